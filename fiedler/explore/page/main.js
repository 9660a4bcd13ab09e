// The page of `fiedler explore`: messages go to the local server that sent this page.
import { startExplore } from "./app.js";

async function sendToServer(message) {
  let reply;
  try {
    reply = await fetch("message", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(message),
    });
  } catch {
    throw new Error(explored.ended(true));
  }
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
// A browser asks again when the connection breaks; a second failure means that nobody answers.
let failures = 0;
events.onopen = () => { failures = 0; };
events.onerror = () => {
  failures += 1;
  if (failures < 2 && events.readyState !== EventSource.CLOSED) return;
  events.close();
  explored.ended();
};
