"use strict";

// A mechanism that the page steps: its requests, and the sliders of joint coordinates and inputs.

const SLOWEST = 0.08; // s, that frames are asked for ahead of what is seen, at least
const LONGEST_WAIT = 0.5; // s, the same at most
const REDRAW = 200; // ms between two drawings of all curves and traces
const IDLE = 30; // ms

class Session {
  // viewer: take(chunk, anew), tell(text), still, motion, seek(time), play(on).
  constructor(session, viewer) {
    Object.assign(this, { session, viewer });
    Object.assign(this, { epoch: 0, took: 0, more: true, wanted: {}, told: "", until: null, seekEnd: false, behind: false });
    this.sliders = [];
    this.dragged = null;
    this.pull = null; // {body, point, to} while the pointer holds a body
    const { coordinates, inputs } = session;
    this.list("Inputs", inputs, "inputs", (slider, value) => {
      this.wanted.inputs = { ...this.wanted.inputs, [slider.name]: value };
    });
    this.list("Joint coordinates", coordinates, "coordinates", (slider, value) => this.move(slider, value));
    this.present = { inputs: [], coordinates: [] };
    for (const id of ["reset", "save"]) document.getElementById(id).hidden = false;
    document.getElementById("reset").addEventListener("click", () => this.reset());
    document.getElementById("save").addEventListener("click", () => this.save());
    document.getElementById("loop").closest("label").hidden = true;
    this.enable(true);
    this.pump();
  }

  list(title, sliders, kind, act) {
    if (!sliders.length) return;
    const details = document.createElement("details");
    details.open = sliders.length <= 12;
    const summary = document.createElement("summary");
    summary.textContent = title;
    const place = document.createElement("div");
    place.className = "sliders";
    details.append(summary, place);
    document.getElementById("side").insertBefore(details, document.getElementById("plots"));
    sliders.forEach((slider, number) => {
      const row = document.createElement("label");
      const name = document.createElement("span");
      const range = document.createElement("input");
      const box = document.createElement("input");
      const unit = document.createElement("small");
      name.textContent = slider.number === null || slider.number === undefined ? slider.name : `${slider.name} ${slider.number}`;
      name.title = slider.what ? `${slider.name}: ${slider.what}` : name.textContent;
      Object.assign(range, { type: "range", min: slider.low, max: slider.high, step: "any" });
      Object.assign(box, { type: "number", step: "any", inputMode: "decimal" });
      range.setAttribute("aria-label", name.textContent);
      box.setAttribute("aria-label", name.textContent);
      row.dataset.slider = name.textContent;
      unit.textContent = slider.unit;
      row.append(name, range, box, unit);
      place.append(row);
      const set = (value) => {
        if (!Number.isFinite(value)) return;
        range.value = value;
        box.value = Number(value.toPrecision(4));
        act(slider, value);
      };
      range.addEventListener("pointerdown", () => (this.dragged = range));
      range.addEventListener("change", () => (this.dragged = null));
      range.addEventListener("input", () => set(Number(range.value)));
      box.addEventListener("change", () => set(Number(box.value)));
      box.addEventListener("keydown", (event) => event.stopPropagation());
      range.addEventListener("keydown", (event) => event.stopPropagation());
      this.sliders.push({ slider, kind, range, box, place: kind === "inputs" ? number : slider.column });
    });
  }

  // All coordinates of a joint are sent together.
  move(slider, value) {
    const own = this.sliders.filter((each) => each.kind === "coordinates" && each.slider.name === slider.name);
    const values = own.map((each) => (each.slider === slider ? value : this.present.coordinates[each.place]));
    this.wanted.coordinates = { [slider.name]: values };
  }

  // Coordinates are set at rest alone.
  enable(on) {
    for (const each of this.sliders) if (each.kind === "coordinates") each.range.disabled = each.box.disabled = !on;
  }

  reset() {
    this.viewer.play(false);
    this.wanted = { reset: true };
  }

  save() {
    const link = document.createElement("a");
    link.download = `${data.title.replace(/[^\w.-]+/g, "_")}.h5`;
    link.href = "run.h5";
    link.click();
    this.saved = (this.saved || 0) + 1;
  }

  // To the last frame, also of those that are on their way, unless an earlier time was chosen.
  pause() {
    if (this.behind) return;
    this.viewer.seek(this.viewer.motion.end);
    this.seekEnd = Boolean(this.busy);
  }

  // One frame on from the last one.
  step() {
    this.until = this.viewer.motion.end + 0.5 * this.session.frame;
    this.seekEnd = true;
  }

  get pending() {
    return this.busy || this.more || this.until !== null || Object.keys(this.wanted).length > 0;
  }

  // What to ask for next, or null.
  next() {
    const { still, motion } = this.viewer;
    const request = { epoch: this.epoch, from: motion.count, ...this.wanted };
    if (still.playing && motion.count) {
      const ahead = Math.max(still.speed * Math.min(LONGEST_WAIT, Math.max(SLOWEST, 2 * this.took)), 1.5 * this.session.frame);
      if (motion.end - still.time < ahead) request.until = still.time + ahead;
    } else if (this.until !== null) request.until = this.until;
    if (this.pull && request.until !== undefined) request.pull = this.pull;
    const isNew = request.until !== undefined || this.more || Object.keys(this.wanted).length > 0;
    return isNew ? request : null;
  }

  async pump() {
    const request = this.next();
    if (!request) {
      setTimeout(() => this.pump(), IDLE);
      return;
    }
    this.wanted = {};
    this.until = null;
    this.busy = true;
    const begun = performance.now();
    try {
      const answer = await fetch("step", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(request) });
      this.take(await answer.json(), request);
    } catch (problem) {
      if (!(problem instanceof TypeError)) throw problem;
      this.viewer.still.lost = true;
      this.viewer.play(false);
      this.viewer.tell("the live view has ended: the mechanism cannot be stepped any more");
      return;
    } finally {
      this.busy = false;
    }
    this.took = 0.7 * this.took + (0.3 * (performance.now() - begun)) / 1000;
    setTimeout(() => this.pump(), this.more ? 0 : 5);
  }

  take(chunk, request) {
    const { still, motion } = this.viewer;
    const anew = chunk.epoch !== undefined && chunk.epoch !== this.epoch;
    if (anew) this.epoch = chunk.epoch;
    this.more = Boolean(chunk.more);
    if (chunk.count || anew) this.viewer.take(chunk, anew);
    if (chunk.message) {
      this.told = chunk.message;
      const ends = chunk.failed || request.until !== undefined;
      if (ends && chunk.failed) this.viewer.play(false);
      if (ends && !chunk.count) this.viewer.play(false);
    } else if (request.until !== undefined || anew || request.inputs) this.told = "";
    if (this.seekEnd || (anew && !still.playing)) this.viewer.seek(motion.end);
    this.seekEnd = false;
    if (chunk.coordinates) {
      this.present = chunk;
      this.show();
    }
    this.viewer.tell(this.told);
  }

  // Sliders to the present values, but for the one that is moved.
  show() {
    for (const { kind, range, box, place } of this.sliders) {
      if (this.dragged === range || document.activeElement === box) continue;
      let value = this.present[kind][place];
      const turn = range.max - range.min;
      if (Math.abs(turn - 2 * Math.PI) < 1e-6) value -= turn * Math.floor((value - range.min) / turn);
      range.value = value;
      box.value = Number(value.toPrecision(4));
    }
  }
}
