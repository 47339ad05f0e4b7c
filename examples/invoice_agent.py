"""An agent that pays an invoice: it checks, asks two questions at once, hears the answers one by one, and pays.

hitl-tui runs this program with one JSON object on standard input and reads one from standard output. While its
questions are open no process waits: whenever one is answered the program is run again, from the start, with every answer
so far in `resume_inputs`. So it is written as a function of what is known, and ends either with its open questions
or with its result. Lines on standard error are shown as progress.

Only the standard library is used. Copy it, and replace `check`, `questions` and `pay`.
"""

import csv
import json
import os
import sys

BUDGETS = ["operations", "marketing", "research"]


def main():
    request = json.load(sys.stdin)
    json.dump(reply(request), sys.stdout)


def reply(request):
    """The reply for what is known now: questions, or a result."""
    invoice = request["input"]

    # After a retry the agent is a new run with no findings and no answers. Why is in feedback; what had been answered
    # before, in discarded: the budget that somebody has chosen need not be asked for again.
    answers = {**request["discarded"], **request["resume_inputs"]}

    # What the first run found out comes back as prior_output: it is not worked out again, and what the people
    # who answered were shown stays what is used.
    findings = request["prior_output"] or check(invoice, request["feedback"])

    approval = answers.get("pay")
    if approval and approval["action"] != "approve":
        # A rejection is for the agent to hear. The question about the budget has no sense any more: it is
        # withdrawn if it is still open.
        return {
            "output": {"paid": 0, "reason": approval["comment"] or "no reason was given"},
            "route": "declined",
            "closed": [key for key in request["prior_interrupt_ids"] if key != "pay"],
        }
    if approval and "budget" in answers:
        return {"output": pay(invoice, answers, request["idempotency_key"]), "route": "paid"}

    # A question that is asked again under the same key is the same question: whoever has it on the screen
    # notices nothing. A question that was answered is not asked again.
    return {
        "output": findings,
        "interrupts": [q for q in questions(invoice, findings) if q["key"] not in answers],
    }


def check(invoice, feedback):
    """The part that costs time and is done once: here arithmetic, elsewhere a model or a search."""
    progress(f"checking invoice {invoice['number']} of {invoice['supplier']}")
    notes = ["The number was not paid before."]
    if os.path.exists(invoice["book"]):
        with open(invoice["book"], newline="", encoding="utf-8") as book:
            if any(row[1] == invoice["number"] for row in csv.reader(book)):
                notes = ["**The number was paid before.**"]
    for remark in feedback.values():
        notes.append(f"Checked again, because {remark['by']} said: {remark['comment'] or 'again'}")
    if invoice["amount"] >= 1000:
        notes.append("The amount is 1000 EUR or more.")
    progress(f"{len(notes)} findings")
    return {"notes": notes}


def questions(invoice, findings):
    """Both questions, with the keys of a question in a workflow file."""
    amount = f"{invoice['amount']:.2f} EUR"
    return [
        {
            "key": "pay",
            "kind": "approval",
            "title": f"Pay {amount} to {invoice['supplier']}",
            "message": "The agent found:\n\n" + "\n".join("- " + note for note in findings["notes"]),
            "content": invoice,
            "actions": ["approve", "reject", "retry"],
            "require_comment": ["reject"],
            "group": "finance",
            "priority": "high" if invoice["amount"] >= 1000 else "normal",
        },
        {
            "key": "budget",
            "kind": "choice",
            "title": f"Budget for {invoice['supplier']}",
            "message": f"Which budget pays {amount}?",
            "options": BUDGETS,
            "actions": ["choose", "stop"],
            "group": "finance",
        },
    ]


def pay(invoice, answers, key):
    """Books the payment once.

    A program may run twice with the same answers: when the machine fails after the payment and before hitl-tui has stored
    the result. `idempotency_key` is the same in both runs, so the second finds what the first did. A real payment
    service takes such a key with the request.
    """
    payment = [key, invoice["number"], invoice["supplier"], f"{invoice['amount']:.2f}", answers["budget"]["value"]]
    with open(invoice["book"], "a+", newline="", encoding="utf-8") as book:
        book.seek(0)
        if any(row[0] == key for row in csv.reader(book)):
            progress("this payment was booked before the program was interrupted")
        else:
            csv.writer(book, lineterminator="\n").writerow(payment)
            progress(f"booked {payment[3]} EUR")
    return {"paid": invoice["amount"], "budget": payment[4], "approved_by": answers["pay"]["by"]}


def progress(text):
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
