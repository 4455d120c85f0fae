"use strict";
// A text with places marked in it. Places count code points, as the server's do; JavaScript's strings count UTF-16.

function codePoints(text) { return Array.from(text); }

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "on") { made.addEventListener("click", value); } else { made.setAttribute(key, value); }
  }
  made.append(...children);
  return made;
}

function hueOf(label, labels) { return String((labels.indexOf(label) * 67 + 48) % 360); }

// `places`: {start, end, title, hue, key}; of overlapping ones the first that begins, and of those the longest, is shown.
function markedText(text, places) {
  const characters = codePoints(text);
  const ordered = places.slice().sort((one, other) => one.start - other.start || other.end - one.end);
  const box = element("div", {class: "document", tabindex: "0"});
  let at = 0;
  for (const place of ordered) {
    if (place.start < at) { continue; }
    box.append(characters.slice(at, place.start).join(""));
    const mark = element("mark", {title: place.title, "data-key": place.key}, characters.slice(place.start, place.end).join(""));
    mark.style.setProperty("--hue", place.hue);
    if (place.note) { mark.append(element("sup", {}, place.note)); }
    box.append(mark);
    at = place.end;
  }
  box.append(characters.slice(at).join(""));
  return box;
}
