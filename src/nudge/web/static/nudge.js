// Keeps a page as it is now: what the daemon says arrives as events, and the parts that changed are put in place. The
// page works without this; then it shows how things were when it was loaded.
"use strict";
(() => {
  const body = document.body;

  // Put `fresh` in the place of `old`, child by child where both have ids, so that focus, typed text and what a screen
  // reader has read already stay.
  const morph = (old, fresh) => {
    if (old.isEqualNode(fresh)) return;
    const keyed = (node) => node.children.length > 0 && [...node.children].every((one) => one.id);
    if (keyed(fresh) && (keyed(old) || !old.children.length)) {
      const wanted = new Set([...fresh.children].map((one) => one.id));
      for (const child of [...old.childNodes]) if (!wanted.has(child.id)) child.remove();
      let before = null;
      for (const child of [...fresh.children]) {
        const there = [...old.children].find((one) => one.id === child.id);
        if (there) morph(there, child);
        const node = there || document.importNode(child, true);
        const next = before ? before.nextSibling : old.firstChild;
        if (node !== next) old.insertBefore(node, next);
        before = node;
      }
      return;
    }
    const active = document.activeElement;
    const inside = old.contains(active) && active !== old;
    if (inside && active.matches("input:not([type=hidden]), textarea") && active.value !== active.defaultValue) return;
    const held = inside ? active.id : "";
    const copy = document.importNode(fresh, true);
    old.replaceChildren(...copy.childNodes);
    for (const { name, value } of [...fresh.attributes]) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    if (inside) {
      const back = held && document.getElementById(held);
      (back || document.getElementById("main")).focus({ preventScroll: true });
    }
  };

  const take = (html, live = false) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    for (const old of document.querySelectorAll("[data-live]")) {
      const fresh = page.getElementById(old.id);
      if (fresh && !(live && old.id === "flash")) morph(old, fresh);
    }
    count();
    end();
  };

  // What is read from its end, such as a conversation, stays there unless somebody has gone back in it.
  const seen = new WeakMap();
  const end = () => {
    for (const one of document.querySelectorAll("[data-end]")) {
      const last = seen.get(one);
      if (last === undefined || last - one.scrollTop - one.clientHeight < 60) one.scrollTop = one.scrollHeight;
      seen.set(one, one.scrollHeight);
    }
  };

  const say = (words) => {
    const line = document.getElementById("connection");
    if (line && line.textContent !== words) line.textContent = words;
  };

  let loading = false, again = false;
  const refresh = async () => {
    if (loading) { again = true; return; }
    loading = true;
    try {
      const answer = await fetch(location.href, { headers: { "x-live": "1" } });
      if (answer.ok) take(await answer.text(), true);
    } catch { say("The page cannot be reached. Trying again."); }
    loading = false;
    if (again) { again = false; soon(); }
  };
  let timer = 0;
  const soon = () => { if (!timer) timer = setTimeout(() => { timer = 0; refresh(); }, 100); };

  const count = () => {
    for (const one of document.querySelectorAll("[data-countdown]")) {
      const left = Math.max(0, Math.ceil((new Date(one.dateTime) - Date.now()) / 1000));
      const words = left > 3600 ? one.textContent : `${left} s left`;
      if (one.textContent !== words) one.textContent = words;
      if (left === 0) soon();
    }
  };
  setInterval(count, 1000);

  // Forms are sent without leaving the page, one after the other: what one of them says must not be lost to the next.
  let line = Promise.resolve();
  const send = async (form, action, data) => {
    try {
      const answer = await fetch(action, { method: "POST", body: data });
      const landed = new URL(answer.url);
      if (landed.pathname !== location.pathname || landed.search !== location.search) { location.assign(answer.url); return; }
      const html = await answer.text();
      take(html);
      const done = answer.ok && !document.querySelector("#flash .bad");
      if (done && form.dataset.reset !== undefined) {
        form.reset();
        for (const one of form.querySelectorAll("output")) one.textContent = "";
      }
      if (done && form.dataset.before !== undefined) form.elements.before.value = data.get("text");
    } catch { say("That did not arrive. Please try again."); }
  };
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    event.preventDefault();
    const data = new URLSearchParams(new FormData(form));
    const by = event.submitter;
    if (by && by.name) data.append(by.name, by.value);
    const action = by && by.hasAttribute("formaction") ? by.formAction : form.action;
    line = line.then(() => send(form, action, data));
  });

  // How a reminder is understood, while it is typed.
  let asked = 0;
  document.addEventListener("input", (event) => {
    const input = event.target.closest("[data-understand]");
    if (!input) return;
    clearTimeout(asked);
    asked = setTimeout(async () => {
      const words = input.value;
      const data = new URLSearchParams({ csrf: body.dataset.csrf, words, part: input.dataset.part || "" });
      const answer = await fetch("/understand", { method: "POST", body: data });
      if (!answer.ok || input.value !== words) return;
      const { reading } = await answer.json();
      document.getElementById(input.dataset.understand).textContent = reading;
    }, 120);
  });

  // Messages on the desktop. Only those that an agent sends: each has passed the gate already. The browser is asked for
  // permission when the switch is pressed, never by itself; the choice is kept in this browser.
  const KEY = "nudge-notify", OLD = 10 * 60 * 1000;
  const able = "Notification" in window;
  const notifying = () => able && Notification.permission === "granted" && localStorage.getItem(KEY) === "on";
  const showSwitch = () => {
    const part = document.getElementById("notices");
    if (!part || !able) return;
    part.hidden = false;
    const on = notifying(), button = document.getElementById("notify");
    button.textContent = on ? "Turn off" : "Turn on";
    button.setAttribute("aria-pressed", String(on));
    const refused = Notification.permission === "denied";
    button.disabled = refused;
    document.getElementById("notify-state").textContent =
      refused ? "Your browser blocks them. Allow notifications for this page in its settings." : on ? "They are on." : "";
  };
  document.addEventListener("click", async (event) => {
    if (event.target.id !== "notify") return;
    if (notifying()) localStorage.setItem(KEY, "off");
    else if ((await Notification.requestPermission()) === "granted") localStorage.setItem(KEY, "on");
    showSwitch();
  });
  const notify = (event) => {
    if (!notifying()) return;
    const { agent, id, at, kind, text } = JSON.parse(event.data);
    if (kind === "reply" || Date.now() - new Date(at) > OLD) return;
    const shown = new Notification(agent, { body: text, tag: `nudge-${id}` });
    shown.onclick = () => { window.focus(); shown.close(); };
  };

  // One stream for as long as the page is looked at, or messages are shown on the desktop. It goes on behind the last
  // event it has seen.
  let source = null, place = body.dataset.place;
  const listen = () => {
    if (source || (document.hidden && !notifying()) || !place) return;
    source = new EventSource(`/events?after=${encodeURIComponent(place)}`);
    source.onopen = () => { say(""); body.dataset.live = "on"; };
    source.onerror = () => say("Waiting for nudge to answer.");
    const heard = (event) => {
      if (event.lastEventId) place = event.lastEventId;
      if (!document.hidden) soon();
    };
    for (const kind of ["feed", "outcome", "meter", "attention", "session", "question", "reminder", "message", "reset"]) source.addEventListener(kind, heard);
    source.addEventListener("message", notify);
    source.addEventListener("draft", (event) => {
      const { agent, text } = JSON.parse(event.data);
      const draft = document.querySelector("[data-draft]");
      if (draft && draft.dataset.draft === agent) draft.textContent = text;
    });
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && source && !notifying()) { source.close(); source = null; } else { listen(); if (!document.hidden) soon(); }
  });
  listen();
  count();
  end();
  showSwitch();
})();
