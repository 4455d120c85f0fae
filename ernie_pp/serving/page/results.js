"use strict";
// What is shown of predictions, by the kind of problem.

const percent = (value) => (100 * value).toFixed(1) + " %";

function showClassification(texts, predictions) {
  return predictions.map((one, index) => {
    const sorted = Object.entries(one.probabilities).sort((a, b) => b[1] - a[1]).slice(0, 12);
    const chosen = Array.isArray(one.prediction) ? one.prediction : [one.prediction];
    return element("div", {class: "card"}, element("p", {}, texts[index]),
      element("p", {}, element("strong", {}, chosen.join("、") || "（没有标签）")),
      ...sorted.map(([label, value]) => {
        const meter = element("meter", {min: "0", max: "1", value: String(value), "aria-label": label});
        return element("div", {class: "bar"}, element("span", {}, label), meter, element("span", {}, percent(value)));
      }));
  });
}

function showEntities(texts, predictions, labels) {
  return predictions.map((one, index) => {
    const places = one.entities.map((entity, number) => ({
      start: entity.start, end: entity.end, hue: hueOf(entity.label, labels), note: entity.label, key: String(number),
      title: `${entity.label} ${percent(entity.score)}`,
    }));
    const text = markedText(texts[index], places);
    const card = element("div", {class: "card"}, text);
    if (one.fields) { card.append(fieldTable(one.fields)); }
    card.append(entityTable(one.entities, text));
    return card;
  });
}

function entityTable(entities, box) {
  const rows = entities.map((entity, number) => element("tr", {},
    element("td", {}, element("button", {class: "answer", on: () => choose(box, String(number))}, entity.text)),
    element("td", {}, entity.label), element("td", {}, percent(entity.score)),
    element("td", {}, `${entity.start}–${entity.end}`)));
  return table(["实体", "类型", "置信度", "位置"], rows, "没有找到实体");
}

const statuses = {found: "找到", doubt: "存疑", missing: "缺失"};

function fieldTable(fields) {
  const rows = Object.entries(fields).map(([name, field]) => element("tr", {},
    element("th", {}, name),
    element("td", {}, field.values.map((value) => value.value).join("；") || "—"),
    element("td", {class: field.status}, statuses[field.status] || field.status),
    element("td", {}, field.values.length ? percent(field.values[0].confidence) : "")));
  return table(["字段", "值", "状态", "置信度"], rows, "没有字段");
}

function showAnswers(text, questions, predictions) {
  const places = [];
  predictions.forEach((one, index) => {
    if (one.kind === "span") {
      places.push({start: one.start, end: one.end, hue: String((index * 67 + 48) % 360), note: String(index + 1),
        key: `${index}`, title: questions[index]});
    }
  });
  let box = markedText(text, places);
  const names = {none: "文中没有答案", yes: "是", no: "否"};
  const cards = predictions.map((one, index) => {
    const answer = one.kind === "span" ? one.answer : names[one.kind];
    const button = element("button", {class: "answer", type: "button", on: () => choose(box, `${index}`)},
      `${index + 1}. ${questions[index]} — `, element("strong", {}, answer), ` ${percent(one.score)}`);
    const rows = one.candidates.map((candidate) => element("tr", {},
      element("td", {}, element("button", {class: "answer", type: "button", on: () => showOne(candidate, index)},
        candidate.text || names[candidate.kind] || "")),
      element("td", {}, percent(candidate.probability)),
      element("td", {}, candidate.page ? `第 ${candidate.page} 页` : candidate.paragraph ? `第 ${candidate.paragraph} 段` : "")));
    return element("div", {class: "card"}, button,
      element("details", {}, element("summary", {}, "其他候选"), table(["候选", "概率", "位置"], rows, "没有候选")));
  });
  function showOne(candidate, index) {
    if (candidate.start === undefined) { return; }
    const other = markedText(text, [{...candidate, hue: "200", note: String(index + 1), key: "one", title: questions[index]}]);
    box.replaceWith(other);
    box = other;
    choose(box, "one");
  }
  return [...cards, box];
}

function table(heads, rows, none) {
  if (!rows.length) { return element("p", {class: "quiet"}, none); }
  const head = element("tr", {}, ...heads.map((name) => element("th", {scope: "col"}, name)));
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
}

function choose(box, key) {
  box.querySelectorAll("mark.chosen").forEach((mark) => mark.classList.remove("chosen"));
  const mark = box.querySelector(`mark[data-key="${key}"]`);
  if (mark) { mark.classList.add("chosen"); mark.scrollIntoView({block: "center"}); }
}
