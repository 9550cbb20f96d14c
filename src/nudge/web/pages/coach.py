"""Coach: the conversation, with goals and memory side by side. Edits are saved as the chat's are."""

from __future__ import annotations

from nudge.web.layout import View, button, card, document, form
from nudge.web.markup import Html, el
from nudge.web.pages import Ask, Query

_DOCUMENTS = {"goals": "Goals", "memory": "Memory"}
_SAID = 60


async def coach_page(view: View, ask: Ask, query: Query) -> str:
    agent = view.speaker
    if not view.live:
        await ask("greet", {})
    talk = await ask("read/conversation", {"agent": agent, "limit": _SAID})
    texts = await ask("read/documents", {"agent": agent})
    said = [el("li", one["text"], class_=one["role"], id=f"said-{one['id']}") for one in talk["conversation"]]
    if not said:
        said = [el("li", "No messages yet. Say hello, or try “/help”.", class_="soft", id="said-nothing")]
    conversation = el(
        "ol",
        *said,
        id="talk",
        class_="chat",
        data_live=True,
        data_end=True,
        aria_live="polite",
        tabindex="0",
        aria_label="Conversation",
    )
    write = form(
        view,
        "chat",
        {},
        el("label", f"Message to {agent}", for_="chat"),
        el(
            "div",
            el("input", name="text", id="chat", required=True, autocomplete="off", maxlength="8000"),
            button("Send", class_="primary"),
            class_="words",
        ),
        class_="stack",
        data_reset=True,
    )
    undo = form(view, "undo", {"agent": agent}, button("Undo the last change", id_="undo-last", class_="small"))
    return document(
        view,
        "Coach",
        card(
            "",
            conversation,
            el("p", talk["draft"], id="draft", data_live=True, data_draft=agent, class_="draft"),
            el("p", "Writing …" if talk["busy"] else "", id="busy", data_live=True, class_="soft"),
            write,
            undo,
            live=False,
        ),
        el("div", *(_editor(view, name, title, texts[name]) for name, title in _DOCUMENTS.items()), class_="halves"),
        again=1 if talk["busy"] else None,
    )


def _editor(view: View, name: str, title: str, text: str) -> Html:
    content = form(
        view,
        "save",
        {"name": name, "before": text},
        el("textarea", text, name="text", id=f"doc-{name}", rows="16", aria_label=title),
        el("div", button(f"Save {title}", class_="primary"), class_="actions"),
        class_="stack",
        data_before=True,
    )
    return card(title, content, live=False)
