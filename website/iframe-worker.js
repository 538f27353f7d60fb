// Search runs in a worker, which browsers refuse to a page that is opened from a disk. There, a hidden
// frame does its work. (Its name is how the offline plugin knows that nothing need be fetched for this.)
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.ready = new Promise((resolve, reject) => {
        const script = inside.document.createElement("script");
        script.onload = () => resolve(inside);
        script.onerror = reject;
        script.src = url;
        inside.document.body.append(script);
      });
    }

    async postMessage(data) {
      const inside = await this.ready;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }

    terminate() {}
  };
}
