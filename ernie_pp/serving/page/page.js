"use strict";
// The form: which bundle is asked what, and what comes of it.

const $ = (id) => document.getElementById(id);
let bundles = [], limits = {}, last = null, isRunning = false;

function headers(more) {
  const token = $("token").value.trim();
  return token ? {...more, Authorization: `Bearer ${token}`} : more;
}

function say(message) { $("message").textContent = message || ""; }

async function told(response) {
  if (response.status === 401) { $("token-row").hidden = false; $("token").focus(); }
  try {
    const error = (await response.json()).error;
    return (error.where ? `${error.where}: ` : "") + error.message;
  } catch { return `HTTP ${response.status}`; }
}

async function loadBundles() {
  const response = await fetch("/v1/bundles", {headers: headers({})});
  if (!response.ok) { say(await told(response)); return; }
  const found = await response.json();
  [bundles, limits] = [found.bundles, found.limits];
  const before = $("bundle").value;
  $("bundle").replaceChildren(...bundles.map((one) => element("option", {value: one.name}, `${one.name}（${one.task}）`)));
  if (bundles.some((one) => one.name === before)) { $("bundle").value = before; }
  say(bundles.length ? "" : "模型包正在载入，请稍候再试。");
  if (!bundles.length) { setTimeout(loadBundles, 1000); }
  settle();
}

function current() { return bundles.find((one) => one.name === $("bundle").value); }

function settle() {
  const bundle = current();
  const asks = bundle && bundle.task === "docqa";
  $("question-row").hidden = !asks;
  $("pair-row").hidden = !bundle || asks || !bundle.takes_pairs;
  $("text-label").textContent = asks ? "文档" : bundle && bundle.task === "cls" ? "文本（每行一条）" : "文本";
  if (asks && !$("questions").value) { $("questions").value = bundle.questions.join("\n"); }
  count();
}

const lines = (text) => text.split(/\r?\n/).filter((line) => line.trim());

function asked(bundle) {
  const text = $("text").value;
  if (bundle.task === "docqa") { return {bundle: bundle.name, document: text, questions: lines($("questions").value)}; }
  if (bundle.takes_pairs) { return {bundle: bundle.name, texts: lines(text), pairs: lines($("pair").value)}; }
  // An entity may stand over a line end: a document is one text.
  return {bundle: bundle.name, texts: bundle.task === "ner" ? [text] : lines(text)};
}

function count() {
  const size = codePoints($("text").value).length;
  $("count").textContent = size ? `${size} 字${limits.max_characters && size > limits.max_characters ? "，超过上限" : ""}` : "";
}

async function run() {
  const bundle = current();
  if (!bundle || isRunning) { return; }
  const request = asked(bundle);
  busy(true);
  say("");
  try {
    const response = await fetch("/v1/predict", {
      method: "POST", body: JSON.stringify(request),
      headers: headers({"Content-Type": "application/json", Accept: "application/x-ndjson"}),
    });
    if (!response.ok) { say(await told(response)); return; }
    const result = await readLines(response);
    if (result) { show(bundle, request, result); }
  } catch (error) {
    say(`服务器没有回答：${error.message}`);
  } finally { busy(false); }
}

async function readLines(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const {done, value} = await reader.read();
    rest += value || "";
    const parts = rest.split("\n");
    rest = parts.pop();
    for (const part of parts) {
      const message = JSON.parse(part);
      if (message.error) { say(message.error.message); return null; }
      if (message.result) { return message.result; }
      $("progress").max = message.of;
      $("progress").value = message.done;
    }
    if (done) { say("服务器的回答不完整。"); return null; }
  }
}

function busy(isBusy) {
  isRunning = isBusy;
  $("run").disabled = isBusy;
  $("progress").hidden = !isBusy;
  if (isBusy) { $("progress").removeAttribute("value"); }
}

function show(bundle, request, result) {
  last = {request, result};
  const cut = result.cut_tokens.reduce((sum, one) => sum + one, 0);
  $("cut").textContent = cut ? `超过长度上限，截掉了 ${cut} 个 token` : "";
  const shown = bundle.task === "docqa" ? showAnswers(request.document, request.questions, result.predictions)
    : bundle.task === "ner" ? showEntities(request.texts, result.predictions, bundle.labels)
      : showClassification(request.texts, result.predictions);
  $("results").replaceChildren(...shown);
  $("output").hidden = false;
}

function save(content, type, name) {
  const link = element("a", {download: name, href: URL.createObjectURL(new Blob([content], {type}))});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function saveTable() {
  const response = await fetch("/v1/predict", {
    method: "POST", body: JSON.stringify(last.request),
    headers: headers({"Content-Type": "application/json", Accept: "text/csv"}),
  });
  if (response.ok) { save(await response.blob(), "text/csv", "predictions.csv"); } else { say(await told(response)); }
}

async function readFile(file) {
  if (!file) { return; }
  say("");
  if (limits.max_body && file.size > limits.max_body) { say(`文件有 ${file.size} 字节，上限是 ${limits.max_body}。`); return; }
  const response = await fetch(`/v1/text?name=${encodeURIComponent(file.name)}`, {
    method: "POST", body: file, headers: headers({"Content-Type": "application/octet-stream"}),
  });
  if (!response.ok) { say(await told(response)); return; }
  $("text").value = (await response.json()).text;
  count();
}

$("form").addEventListener("submit", (event) => { event.preventDefault(); run(); });
document.addEventListener("keydown", (event) => {
  // While an input method composes, Enter is its own.
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) { event.preventDefault(); run(); }
});
$("bundle").addEventListener("change", settle);
$("text").addEventListener("input", count);
$("token").addEventListener("change", loadBundles);
$("file").addEventListener("change", () => readFile($("file").files[0]));
for (const name of ["dragover", "dragleave", "drop"]) {
  $("text").addEventListener(name, (event) => {
    event.preventDefault();
    $("text").classList.toggle("over", name === "dragover");
    if (name === "drop") { readFile(event.dataTransfer.files[0]); }
  });
}
$("json").addEventListener("click", () => save(JSON.stringify(last.result, null, 1), "application/json", "predictions.json"));
$("csv").addEventListener("click", saveTable);
loadBundles();
