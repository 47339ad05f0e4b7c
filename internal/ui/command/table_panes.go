package command

// The commands of history and retention.
const (
	StateAtStep   ID = "history.state"
	BackToSteps   ID = "history.back"
	MarkStep      ID = "history.mark"
	DiffSteps     ID = "history.diff"
	StepsOrGraph  ID = "history.graph"
	HistoryWrap   ID = "history.wrap"
	Fork          ID = "history.fork"
	EditState     ID = "history.edit"
	ExportHistory ID = "history.export"
	HistoryDown   ID = "history.scroll_down"
	HistoryUp     ID = "history.scroll_up"
	DecisionOf    ID = "activity.open"
	NextPeriod    ID = "activity.period"
	WriteCSV      ID = "activity.write"
	Bounds        ID = "retention.bounds"
	MarkThread    ID = "retention.mark"
	MarkRange     ID = "retention.range"
	UnmarkAll     ID = "retention.unmark"
	GroupThreads  ID = "retention.open"
	GroupBack     ID = "retention.back"
	SortThreads   ID = "retention.sort"
	Prune         ID = "retention.prune"
	DeleteMarked  ID = "retention.delete"
	StopPrune     ID = "retention.stop"
)

func history() []Command {
	return []Command{
		{ID: StateAtStep, Keys: []string{"enter", "l", "right"}, Title: "State at the step", Footer: "state",
			Help: "the state at the step", Hidden: true},
		{ID: BackToSteps, Keys: []string{"h", "left"}, Title: "Back to the steps", Help: "back to the list of steps",
			Hidden: true},
		{ID: MarkStep, Keys: []string{"space"}, Title: "Mark an end of a diff", Footer: "mark",
			Help: "mark an end of a diff", Hidden: true},
		{ID: DiffSteps, Keys: []string{"d"}, Title: "Diff", Footer: "diff",
			Help: "diff of the marked steps, else with the step before"},
		{ID: StepsOrGraph, Keys: []string{"v"}, Title: "Steps or graph", Footer: "list/graph",
			Help: "the steps as a list, or the workflow as a graph with the way taken"},
		{ID: Fork, Keys: []string{"F"}, Title: "Fork from here", Footer: "fork", Effect: Asks,
			Help: "a new thread from the state at this step"},
		{ID: EditState, Keys: []string{"e"}, Title: "Edit the state", Footer: "edit state", Effect: Pane,
			Help: "edit the state as a new step (last step only)"},
		{ID: ExportHistory, Keys: []string{"w"}, Title: "Export", Footer: "export", Help: "write steps and states to a file"},
		{ID: HistoryWrap, Keys: []string{"W"}, Title: "Wrap", Help: "wrap long lines on or off"},
		{ID: HistoryDown, Keys: []string{"J"}, Title: "Scroll the right pane", Footer: "scroll",
			Help: "scroll the right pane", Hidden: true},
		{ID: HistoryUp, Keys: []string{"K"}, Title: "Scroll the right pane back", Help: "scroll the right pane back",
			Hidden: true},
	}
}

func activity() []Command {
	return []Command{
		{ID: DecisionOf, Keys: []string{"enter", "l", "right"}, Title: "History of its thread", Footer: "history",
			Help: "history of the thread of the decision", Hidden: true},
		{ID: NextPeriod, Keys: []string{"v"}, Title: "Period", Footer: "period", Help: "the last 24 hours, 7 days or 30 days"},
		{ID: WriteCSV, Keys: []string{"w"}, Title: "Write CSV", Footer: "write CSV", Help: "write the decisions shown to a file"},
	}
}

func retention() []Command {
	return []Command{
		{ID: Bounds, Keys: []string{"b"}, Title: "Bounds", Footer: "bounds", Effect: Pane,
			Help: "what to look at: older than, before step, status, workflow"},
		{ID: MarkThread, Keys: []string{"space"}, Title: "Mark", Footer: "mark", Help: "mark and move on", Hidden: true},
		{ID: MarkRange, Keys: []string{"V"}, Title: "Mark a range", Help: "mark from the last mark to here"},
		{ID: UnmarkAll, Keys: []string{"M"}, Title: "Unmark all", Help: "unmark all"},
		{ID: GroupThreads, Keys: []string{"enter", "l", "right"}, Title: "Threads of the row", Footer: "threads",
			Help: "threads of the row", Hidden: true},
		{ID: GroupBack, Keys: []string{"h", "left"}, Title: "Back to the groups", Help: "back to the groups", Hidden: true},
		{ID: SortThreads, Keys: []string{"v"}, Title: "Sort", Footer: "sort", Help: "by size, by steps, by age, by name"},
		{ID: Prune, Keys: []string{"P"}, Title: "Prune what is shown", Footer: "prune", Effect: Asks,
			Help: "delete the steps shown, never a head (type the count)"},
		{ID: DeleteMarked, Keys: []string{"D"}, Title: "Delete threads", Footer: "delete", Effect: Asks,
			Help: "delete the marked or selected threads whole (type the count)"},
		{ID: StopPrune, Keys: []string{"x"}, Title: "Stop the running prune", Footer: "stop",
			Help: "stop after this chunk; what is gone stays gone"},
	}
}

// The commands of panes, lists and dialogs.
const (
	EditorSend     ID = "editor.send"
	EditorBack     ID = "editor.back"
	EditorNext     ID = "editor.next_field"
	EditorPrev     ID = "editor.previous_field"
	EditorNewLine  ID = "editor.new_line"
	EditorExternal ID = "editor.external"
	EditorSide     ID = "editor.side"
	EditorRaw      ID = "editor.raw"
	EditorCopy     ID = "editor.copy"
	EditorDiscard  ID = "editor.discard"
	EditorUp       ID = "editor.scroll_up"
	EditorDown     ID = "editor.scroll_down"
	EditorAddItem  ID = "editor.add_item"

	EditorRemoveItem  ID = "editor.remove_item"
	EditorRestoreItem ID = "editor.restore_item"
	EditorItemUp      ID = "editor.item_up"
	EditorItemDown    ID = "editor.item_down"

	EditorSuspend   ID = "editor.suspend"
	EditorInterrupt ID = "editor.interrupt"

	ChooserPick   ID = "chooser.pick"
	ChooserDown   ID = "chooser.down"
	ChooserUp     ID = "chooser.up"
	ChooserToggle ID = "chooser.toggle"
	ChooserSend   ID = "chooser.send"
	ChooserNarrow ID = "chooser.narrow"
	ChooserBack   ID = "chooser.back"
	ChooserFocus  ID = "chooser.focus"
	ChooserTake   ID = "chooser.enter"

	MenuDown     ID = "menu.down"
	MenuUp       ID = "menu.up"
	MenuPageDown ID = "menu.page_down"
	MenuPageUp   ID = "menu.page_up"
	MenuFirst    ID = "menu.first"
	MenuLast     ID = "menu.last"
	MenuTake     ID = "menu.take"
	MenuBack     ID = "menu.back"

	OutboxSend     ID = "outbox.send_now"
	OutboxTakeBack ID = "outbox.take_back"

	DialogYes ID = "dialog.yes"
	DialogNo  ID = "dialog.no"

	PromptTake ID = "prompt.take"
	PromptBack ID = "prompt.back"

	PromptComplete ID = "prompt.complete"
	PromptNext     ID = "prompt.next"
	PromptPrevious ID = "prompt.previous"
)

func panes() []Command {
	hidden := []Command{
		{ID: EditorSend, Keys: []string{"ctrl+s"}, Title: "Send", Footer: "send", Help: "send"},
		{ID: EditorBack, Keys: []string{"esc"}, Title: "Back", Footer: "keep as draft", Help: "back, the text stays as a draft"},
		{ID: EditorNext, Keys: []string{"tab"}, Title: "Next field", Footer: "next", Help: "next field; last stop is [Send], there Enter sends"},
		{ID: EditorPrev, Keys: []string{"shift+tab"}, Title: "Previous field", Help: "previous field"},
		{ID: EditorNewLine, Keys: []string{"enter", "ctrl+j"}, Title: "New line", Help: "new line in a text, next field in a form"},
		{ID: EditorExternal, Keys: []string{"ctrl+o"}, Title: "External editor", Footer: "$EDITOR", Help: "open the text in $VISUAL or $EDITOR"},
		{ID: EditorSide, Keys: []string{"ctrl+t"}, Title: "Other side", Footer: "original/diff/question", Help: "cycle text, diff and question"},
		{ID: EditorRaw, Keys: []string{"ctrl+r"}, Title: "Raw JSON", Footer: "raw JSON", Help: "form or raw JSON"},
		{ID: EditorCopy, Keys: []string{"ctrl+y"}, Title: "Copy the text", Footer: "copy", Help: "copy the text"},
		{ID: EditorDiscard, Keys: []string{"ctrl+x"}, Title: "Discard the draft", Footer: "discard", Effect: Asks, Help: "discard the draft"},
		{ID: EditorUp, Keys: []string{"alt+up"}, Title: "Scroll the question up", Footer: "scroll", Help: "scroll the other side up"},
		{ID: EditorDown, Keys: []string{"alt+down"}, Title: "Scroll the question down", Help: "scroll the other side down"},
		{ID: EditorAddItem, Keys: []string{"ctrl+g", "alt+i"}, Title: "Add an item", Footer: "add item", Help: "add an item to the list of a form, below the one with the focus"},
		{ID: EditorRemoveItem, Keys: []string{"alt+x"}, Title: "Remove the item", Footer: "remove item", Help: "remove the item with the focus, with all within it"},
		{ID: EditorRestoreItem, Keys: []string{"alt+u"}, Title: "Put the removed item back", Footer: "put back", Help: "put the item back that was removed last"},
		{ID: EditorItemUp, Keys: []string{"alt+k"}, Title: "Move the item up", Footer: "move item", Help: "move the item with the focus up in its list"},
		{ID: EditorItemDown, Keys: []string{"alt+j"}, Title: "Move the item down", Help: "move the item with the focus down in its list"},
		{ID: EditorSuspend, Keys: []string{"ctrl+z"}, Title: "Suspend", Help: "suspend to the shell"},
		{ID: EditorInterrupt, Keys: []string{"ctrl+c"}, Title: "Back", Help: "as back; a second within 2 s as close"},

		{ID: ChooserPick, Keys: []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}, Title: "Pick", Footer: "pick", Effect: Fires,
			Help: "pick; sends at once if one answer is asked for, toggles if several"},
		{ID: ChooserDown, Keys: []string{"j", "down"}, Title: "Down", Help: "down"},
		{ID: ChooserUp, Keys: []string{"k", "up"}, Title: "Up", Help: "up"},
		{ID: ChooserToggle, Keys: []string{"space"}, Title: "Toggle", Footer: "toggle", Help: "toggle, where several may be picked"},
		{ID: ChooserSend, Keys: []string{"ctrl+s"}, Title: "Send", Footer: "send", Help: "send the picked"},
		{ID: ChooserNarrow, Keys: []string{"/"}, Title: "Narrow", Footer: "narrow", Help: "narrow by text"},
		{ID: ChooserBack, Keys: []string{"esc"}, Title: "Back", Footer: "back", Help: "back"},
		{ID: ChooserFocus, Keys: []string{"tab", "shift+tab"}, Title: "To [Send]", Footer: "to [Send]", Help: "to [Send] and back"},
		{ID: ChooserTake, Keys: []string{"enter"}, Title: "Enter", Help: "on [Send]: send; on an option: pick it and go to [Send], or toggle where several may be picked"},

		{ID: MenuDown, Keys: []string{"down", "j", "ctrl+n"}, Title: "Down", Footer: "move", Help: "down"},
		{ID: MenuUp, Keys: []string{"up", "k", "ctrl+p"}, Title: "Up", Help: "up"},
		{ID: MenuPageDown, Keys: []string{"pgdown", "ctrl+d"}, Title: "Page down", Help: "page down"},
		{ID: MenuPageUp, Keys: []string{"pgup", "ctrl+u"}, Title: "Page up", Help: "page up"},
		{ID: MenuFirst, Keys: []string{"home"}, Title: "First", Help: "first"},
		{ID: MenuLast, Keys: []string{"end"}, Title: "Last", Help: "last"},
		{ID: MenuTake, Keys: []string{"enter"}, Title: "Take", Footer: "take", Help: "take the selected"},
		{ID: MenuBack, Keys: []string{"esc", "ctrl+c"}, Title: "Back", Footer: "back", Help: "back"},

		{ID: OutboxSend, Keys: []string{"s"}, Title: "Send now", Footer: "send now", Help: "end the grace time of the selected"},
		{ID: OutboxTakeBack, Keys: []string{"u"}, Title: "Take back", Footer: "take back", Help: "take the selected back"},

		{ID: DialogYes, Keys: []string{"y"}, Title: "Yes", Footer: "yes", Effect: Fires, Help: "yes"},
		{ID: DialogNo, Keys: []string{"n", "esc", "ctrl+c", "q"}, Title: "No", Footer: "no", Help: "no; has the focus at the start"},

		{ID: PromptTake, Keys: []string{"enter"}, Title: "Take", Footer: "take", Help: "take the text"},
		{ID: PromptBack, Keys: []string{"esc", "ctrl+c"}, Title: "Back", Footer: "back", Help: "back"},
		{ID: PromptComplete, Keys: []string{"tab"}, Title: "Complete", Footer: "complete", Help: "go on with the offered word of a filter"},
		{ID: PromptNext, Keys: []string{"down"}, Title: "Next offer", Help: "the next word that is offered"},
		{ID: PromptPrevious, Keys: []string{"up"}, Title: "Previous offer", Help: "the word offered before"},
	}
	for i := range hidden {
		hidden[i].Hidden = true
	}
	return hidden
}
