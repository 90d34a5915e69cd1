// Runs are in frames of an origin of their own: a message tells them what the switch of the site says, light, dark or
// as the system has it.
document.addEventListener("DOMContentLoaded", () => {
  const frames = document.querySelectorAll("figure.lab iframe");
  const tell = (/** @type {HTMLIFrameElement} */ frame) => {
    const theme = document.body.dataset.theme;
    frame.contentWindow?.postMessage({ labTheme: theme === "light" || theme === "dark" ? theme : "" }, "*");
  };
  for (const frame of frames) frame.addEventListener("load", () => tell(frame));
  const observer = new MutationObserver(() => frames.forEach(tell));
  observer.observe(document.body, { attributeFilter: ["data-theme"] });
  frames.forEach(tell);
});
