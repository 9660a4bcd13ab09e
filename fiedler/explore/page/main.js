// The page of `fiedler explore`: messages go to the local server that sent this page.
import { startExplore } from "./app.js";

async function sendToServer(message) {
  const reply = await fetch("message", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(message),
  });
  if (!reply.ok) throw new Error((await reply.text()) || `The server answered ${reply.status}.`);
  return reply.json();
}

const explored = startExplore(document.getElementById("explore"), { send: sendToServer });
const events = new EventSource("events");
events.onmessage = (event) => explored.noticed(Number(event.data));
events.addEventListener("stop", () => {
  events.close();
  explored.ended();
});
events.onerror = () => {
  if (events.readyState === EventSource.CLOSED) explored.ended();
};
