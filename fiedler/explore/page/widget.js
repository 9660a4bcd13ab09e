// The page in a notebook: messages go to the Python object through the channel of the widget.
import { startExplore } from "./app.js";

function channel(model) {
  const waiting = new Map();
  let count = 0;
  model.on("msg:custom", (reply) => {
    const answer = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (answer) answer(reply);
  });
  const own = Math.random().toString(36).slice(2); // several views share one channel
  return {
    send: (message) => new Promise((resolve) => {
      count += 1;
      const id = `${own}-${count}`;
      waiting.set(id, resolve);
      model.send({ ...message, id });
    }),
  };
}

export default {
  render({ model, el }) {
    const root = document.createElement("div");
    root.className = "fiedler-explore fx-widget";
    root.dataset.lmSuppressShortcuts = "true"; // keys belong to the page, not to the notebook
    el.append(root);
    const explored = startExplore(root, channel(model));
    const noticed = () => explored.noticed(model.get("version"));
    model.on("change:version", noticed);
    return () => model.off("change:version", noticed);
  },
};
