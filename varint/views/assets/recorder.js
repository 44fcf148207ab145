"use strict";

// The canvas as a film, by the browser's own encoder: what is seen from the first press to the second.

class Recorder {
  // saved: called after a film was saved.
  constructor(canvas, button, name, saved) {
    Object.assign(this, { canvas, button, name, saved, recorder: null });
    button.hidden = typeof MediaRecorder === "undefined" || !canvas.captureStream;
    button.addEventListener("click", () => (this.recorder ? this.stop() : this.start()));
  }

  start() {
    const parts = [];
    const kind = ["video/mp4;codecs=avc1.42E01F", "video/webm;codecs=vp9", "video/webm"].find((each) => MediaRecorder.isTypeSupported(each));
    this.recorder = new MediaRecorder(this.canvas.captureStream(30), { mimeType: kind, videoBitsPerSecond: 8e6 });
    this.recorder.addEventListener("dataavailable", ({ data }) => data.size && parts.push(data));
    this.recorder.addEventListener("stop", () => this.save(new Blob(parts, { type: kind.split(";")[0] })));
    this.recorder.start();
    this.told(true);
  }

  stop() {
    this.recorder.stop();
    this.recorder = null;
    this.told(false);
  }

  save(film) {
    const link = document.createElement("a");
    const name = this.name.replace(/[^\w.-]+/g, "_");
    link.download = `${name}.${film.type.split("/")[1]}`;
    link.href = URL.createObjectURL(film);
    this.size = film.size;
    link.click();
    this.saved();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }

  told(on) {
    this.button.classList.toggle("on", on);
    this.button.setAttribute("aria-label", on ? "End the film" : "Record a film");
    this.button.title = on ? "End the film and save it (R)" : "Record what is seen as a film (R)";
  }
}
