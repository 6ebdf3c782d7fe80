"use strict";
const run = JSON.parse(document.getElementById("run").textContent);
const at = (id) => document.getElementById(id);
const count = run.frames.length;
let place = 0;
let timer = null;

const picture = (number) => run.frames[number].map((piece) => run.pieces[piece]).join("");

function show(number) {
  place = Math.max(0, Math.min(count - 1, number));
  at("stage").innerHTML = picture(place);
  at("slider").value = place + 1;
  at("slider").setAttribute("aria-valuetext", `event ${place + 1} of ${count}`);
  at("counter").textContent = `event ${place + 1} of ${count}`;
  if (timer === null) at("aloud").textContent = at("stage").querySelector(".cc-say").textContent;
  if (place === count - 1) stop();
}

function stop() {
  clearInterval(timer);
  timer = null;
  at("play").textContent = "\u25b6 play";
  at("play").setAttribute("aria-pressed", "false");
}

function start() {
  if (place === count - 1) show(0);
  timer = setInterval(() => show(place + 1), Number(at("speed").value));
  at("play").textContent = "\u25a0 pause";
  at("play").setAttribute("aria-pressed", "true");
}

const step = (number) => { stop(); show(number); };
const later = () => run.moments.find((moment) => moment > place) ?? count - 1;
const earlier = () => run.moments.findLast((moment) => moment < place) ?? 0;
const acts = {
  first: () => step(0),
  back: () => step(place - 1),
  play: () => (timer === null ? start() : stop()),
  next: () => step(place + 1),
  last: () => step(count - 1),
  earlier: () => step(earlier()),
  later: () => step(later()),
};
const keys = {
  Home: "first", End: "last", ArrowLeft: "back", ArrowRight: "next", " ": "play",
  ArrowUp: "earlier", PageUp: "earlier", ArrowDown: "later", PageDown: "later",
};

function pages() {
  for (const number of run.pages) {
    const page = document.createElement("section");
    page.className = "page";
    page.innerHTML = `<h2>event ${number + 1} of ${count}</h2>` + picture(number);
    at("pages").append(page);
  }
}

if (count) {
  for (const [id, act] of Object.entries(acts)) at(id).addEventListener("click", act);
  at("slider").addEventListener("input", (event) => step(Number(event.target.value) - 1));
  at("speed").addEventListener("change", () => { if (timer !== null) { stop(); start(); } });
  document.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.altKey || event.metaKey || event.target.tagName === "SELECT") return;
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    event.preventDefault();
    acts[act]();
  });
  pages();
  show(0);
}
