package command

import "github.com/hitl-tui/hitl-tui/internal/actions"

// The commands that are live everywhere.
const (
	Help         ID = "global.help"
	OpenPalette  ID = "global.palette"
	Close        ID = "global.close"
	Back         ID = "global.back"
	Interrupt    ID = "global.interrupt"
	SuspendDesk  ID = "global.suspend"
	Redraw       ID = "global.redraw"
	TakeBack     ID = "global.take_back"
	OpenOutbox   ID = "global.outbox"
	Messages     ID = "global.messages"
	TabWaiting   ID = "global.tab_waiting"
	TabRunning   ID = "global.tab_running"
	TabFailed    ID = "global.tab_failed"
	TabFinished  ID = "global.tab_finished"
	TabAll       ID = "global.tab_all"
	TabActivity  ID = "global.tab_activity"
	TabRetention ID = "global.tab_retention"
	TabPrevious  ID = "global.tab_previous"
	TabNext      ID = "global.tab_next"
	Search       ID = "global.search"
	SearchNext   ID = "global.search_next"
	SearchPrev   ID = "global.search_previous"
	ReadAgain    ID = "global.read_again"
	Copy         ID = "global.copy"
	Reveal       ID = "global.reveal"
	FocusNext    ID = "global.focus_next"
	FocusPrev    ID = "global.focus_previous"
	Zoom         ID = "global.zoom"
	Down         ID = "global.down"
	Up           ID = "global.up"
	First        ID = "global.first"
	Last         ID = "global.last"
	PageUp       ID = "global.page_up"
	PageDown     ID = "global.page_down"
	HalfDown     ID = "global.half_down"
	HalfUp       ID = "global.half_up"
	NewThread    ID = "global.new_thread"
	NextTheme    ID = "global.theme"
	ToggleMouse  ID = "global.mouse"
	LightDark    ID = "global.light_dark"
	Rules        ID = "global.rules"
	SwitchRules  ID = "global.rules_switch"
)

func global() []Command {
	return []Command{
		{ID: Help, Keys: []string{"?"}, Title: "Help", Footer: "help", Help: "help for this screen"},
		{ID: OpenPalette, Keys: []string{":", "ctrl+p"}, Title: "Command palette", Footer: "command",
			Help: "every command, also those without a key", Hidden: true},
		{ID: Close, Keys: []string{"q"}, Title: "Close, quit", Footer: "quit",
			Help: "close; at the top quit (asks only if something is unsent or running)"},
		{ID: Back, Keys: []string{"esc"}, Title: "Back", Footer: "back",
			Help: "one level back; never decides, cancels or quits", Hidden: true},
		{ID: Interrupt, Keys: []string{"ctrl+c"}, Title: "Quit at once", Hidden: true,
			Help: "as close; a second within 2 s quits, unsent answers stay drafts"},
		{ID: SuspendDesk, Keys: []string{"ctrl+z"}, Title: "Suspend", Help: "suspend to the shell; fg comes back"},
		{ID: Redraw, Keys: []string{"ctrl+l"}, Title: "Redraw", Help: "redraw the screen"},
		{ID: TakeBack, Keys: []string{"u"}, Title: "Take back the newest answer", Footer: "take back",
			Help: "take back the newest unsent answer; again: the one before"},
		{ID: OpenOutbox, Keys: []string{"U"}, Title: "Outbox", Footer: "outbox",
			Help: "what is unsent, sending, sent or refused", Effect: List},
		{ID: Messages, Keys: []string{"!"}, Title: "Messages", Footer: "messages",
			Help: "messages and errors so far; Enter goes to the thread", Effect: List},
		{ID: TabWaiting, Keys: []string{"1"}, Title: "Waiting", Help: "threads that wait for a person or a time"},
		{ID: TabRunning, Keys: []string{"2"}, Title: "Running", Help: "threads that run now"},
		{ID: TabFailed, Keys: []string{"3"}, Title: "Failed", Help: "threads that failed or stalled"},
		{ID: TabFinished, Keys: []string{"4"}, Title: "Finished", Help: "threads that ended"},
		{ID: TabAll, Keys: []string{"5"}, Title: "All threads", Help: "all threads"},
		{ID: TabActivity, Keys: []string{"6"}, Title: "Activity", Help: "who decided what, and figures of it"},
		{ID: TabRetention, Keys: []string{"7"}, Title: "Retention", Help: "what the store keeps: prune and delete"},
		{ID: TabPrevious, Keys: []string{"<"}, Title: "Previous tab", Help: "previous tab"},
		{ID: TabNext, Keys: []string{">"}, Title: "Next tab", Help: "next tab"},
		{ID: NewThread, Keys: []string{"+"}, Title: "New thread", Footer: "new", Help: "start a workflow", Effect: List},
		{ID: Search, Keys: []string{"/"}, Title: "Search", Footer: "search", Help: "search in what has the focus"},
		{ID: SearchNext, Keys: []string{"n"}, Title: "Next match", Help: "next match of the search"},
		{ID: SearchPrev, Keys: []string{"N"}, Title: "Previous match", Help: "previous match of the search"},
		{ID: ReadAgain, Keys: []string{"R"}, Title: "Read again", Help: "read again; clears rows decided here"},
		{ID: Copy, Keys: []string{"y"}, Title: "Copy", Footer: "copy", Effect: List,
			Help: "copy menu: i id, t text, v value, p path, c the command line"},
		{ID: Reveal, Keys: []string{"*"}, Title: "Show secrets", Help: "show what is masked for 30 s, or mask it again"},
		{ID: FocusNext, Keys: []string{"tab"}, Title: "Next pane", Help: "focus the next pane"},
		{ID: FocusPrev, Keys: []string{"shift+tab"}, Title: "Previous pane", Help: "focus the previous pane"},
		{ID: Zoom, Keys: []string{"z"}, Title: "Zoom", Footer: "zoom", Help: "zoom the focused pane"},
		{ID: Down, Keys: []string{"j", "down"}, Title: "Down", Footer: "move", Help: "down", Hidden: true},
		{ID: Up, Keys: []string{"k", "up"}, Title: "Up", Help: "up", Hidden: true},
		{ID: First, Keys: []string{"g", "home"}, Title: "First", Help: "first", Hidden: true},
		{ID: Last, Keys: []string{"G", "end"}, Title: "Last", Help: "last", Hidden: true},
		{ID: PageUp, Keys: []string{"pgup"}, Title: "Page up", Help: "page up", Hidden: true},
		{ID: PageDown, Keys: []string{"pgdown"}, Title: "Page down", Help: "page down", Hidden: true},
		{ID: HalfDown, Keys: []string{"ctrl+d"}, Title: "Half a page down", Hidden: true,
			Help: "half a page of the question or right pane, whatever has the focus"},
		{ID: HalfUp, Keys: []string{"ctrl+u"}, Title: "Half a page up", Hidden: true,
			Help: "half a page back of the question or right pane"},
		{ID: NextTheme, Title: "Next theme", Help: "switch to the next theme"},
		{ID: LightDark, Title: "Light or dark", Help: "switch between the light and the dark form of the theme"},
		{ID: Rules, Title: "Rules", Help: "what answers by itself, and what it answered", Effect: List},
		{ID: SwitchRules, Title: "Rules on or off", Help: "let the rules answer, or stop them and take back what is unsent", Effect: Asks},
		{ID: ToggleMouse, Title: "Mouse on or off", Help: "give the mouse back to the terminal, or take it"},
	}
}

// The commands of inbox and question that are no response actions; for those see ForAction.
const (
	OpenQuestion  ID = "review.open"
	BackToList    ID = "review.back_to_list"
	ScrollDown    ID = "review.scroll_down"
	ScrollUp      ID = "review.scroll_up"
	NextQuestion  ID = "review.next_question"
	PrevQuestion  ID = "review.previous_question"
	Mark          ID = "review.mark"
	MarkTo        ID = "review.range"
	Unmark        ID = "review.unmark"
	ActOnMarked   ID = "review.act"
	Filter        ID = "review.filter"
	Views         ID = "review.views"
	Claim         ID = "review.claim"
	OpenHistory   ID = "review.history"
	DisplayMode   ID = "review.display"
	CarryOnBeside ID = "review.carry_on"
	Wrap          ID = "review.wrap"
	ActionsMenu   ID = "question.actions"
	Unfold        ID = "question.unfold"
	WatchThread   ID = "running.watch"
	CancelRun     ID = "running.cancel"
	RunHistory    ID = "running.history"
	ReadError     ID = "failed.error"
	CarryOn       ID = "failed.carry_on"
	FailHistory   ID = "failed.history"
	DeleteFailed  ID = "failed.delete"
	Outputs       ID = "finished.outputs"
	DoneHistory   ID = "finished.history"
	DeleteDone    ID = "finished.delete"
	ThreadBack    ID = "thread.back"
	ThreadCancel  ID = "thread.cancel"
	ThreadHistory ID = "thread.history"
	ThreadCarryOn ID = "thread.carry_on"
	ThreadWrap    ID = "thread.wrap"
)

func review() []Command {
	rows := []Command{
		{ID: OpenQuestion, Keys: []string{"enter", "l", "right"}, Title: "Read the question", Footer: "read",
			Help: "into the question", Hidden: true},
		{ID: BackToList, Keys: []string{"h", "left"}, Title: "Back to the list", Help: "back to the list", Hidden: true},
		{ID: ScrollDown, Keys: []string{"J"}, Title: "Scroll the question", Footer: "scroll",
			Help: "scroll the question one line from the list", Hidden: true},
		{ID: ScrollUp, Keys: []string{"K"}, Title: "Scroll the question back",
			Help: "scroll the question one line back from the list", Hidden: true},
		{ID: NextQuestion, Keys: []string{"."}, Title: "Next question", Footer: "question",
			Help: "next question of this thread, or part of one"},
		{ID: PrevQuestion, Keys: []string{","}, Title: "Previous question", Help: "previous question of this thread, or part of one"},
		{ID: Mark, Keys: []string{"space"}, Title: "Mark", Footer: "mark", Help: "mark and move on", Hidden: true},
		{ID: MarkTo, Keys: []string{"V"}, Title: "Mark a range", Help: "mark from the last mark to here"},
		{ID: Unmark, Keys: []string{"M"}, Title: "Unmark all", Footer: "unmark", Help: "unmark all"},
		{ID: ActOnMarked, Keys: []string{"A"}, Title: "Act on marked", Footer: "act on marked", Effect: Asks,
			Help: "answer all marked alike: action, its text, then y"},
		{ID: Filter, Keys: []string{"f", "\\"}, Title: "Filter", Footer: "filter",
			Help: "filter: status:failed node:review older:2d claimed:none is:failed text"},
		{ID: Views, Keys: []string{"v"}, Title: "Views", Footer: "views", Help: "views of the configuration, and the order of the list", Effect: List},
		{ID: Claim, Keys: []string{"C"}, Title: "Claim or release", Footer: "claim", Help: "claim for 30 minutes, or release"},
		{ID: OpenHistory, Keys: []string{"H"}, Title: "History", Footer: "history", Help: "history of this thread"},
		{ID: CarryOnBeside, Keys: []string{"O"}, Title: "Carry on what failed", Footer: "carry on", Effect: Asks,
			Help: "run again what failed beside this question, which stays open"},
		{ID: DisplayMode, Keys: []string{"d"}, Title: "Display", Footer: "display",
			Help: "rendered, tree, raw, diff against the last round, side by side"},
		{ID: Wrap, Keys: []string{"W"}, Title: "Wrap", Help: "wrap long lines on or off"},
	}
	for _, info := range actions.Table() {
		rows = append(rows, Command{
			ID: ForAction(info.Action), Keys: []string{info.Key}, Title: info.Title, Footer: string(info.Action),
			Help: info.Summary, Effect: effectOf(info), Action: info.Action,
		})
	}
	return append(rows,
		Command{ID: ActionsMenu, Keys: []string{"enter"}, Title: "All actions", Footer: "more", Effect: List,
			Help: "all fifteen actions, where each leads, why not; a key or Enter takes one"},
		Command{ID: Unfold, Keys: []string{"-"}, Title: "Fold or unfold", Footer: "fold",
			Help: "fold or unfold the part of the tree under the cursor", Hidden: true},
	)
}

// effectOf says how an action of that data is asked for: only approve and continue decide with one key.
func effectOf(info actions.Info) Effect {
	switch info.Action {
	case actions.Approve, actions.Continue:
		return Fires
	case actions.Choose:
		return List
	case actions.Skip:
		return Asks
	}
	return Pane
}

func tabs() []Command {
	return []Command{
		{ID: WatchThread, Keys: []string{"enter", "l", "right"}, Title: "Watch the run", Footer: "watch",
			Help: "watch the thread run", Hidden: true},
		{ID: CancelRun, Keys: []string{"x"}, Title: "Cancel the run", Footer: "cancel", Effect: Asks,
			Help: "cancel the run; says whether the question comes back"},
		{ID: RunHistory, Keys: []string{"H"}, Title: "History", Footer: "history", Help: "history of this thread"},
		{ID: ReadError, Keys: []string{"enter", "l", "right"}, Title: "Read the error", Footer: "error",
			Help: "the whole error and where it happened", Hidden: true},
		{ID: CarryOn, Keys: []string{"o"}, Title: "Carry on", Footer: "carry on", Effect: Asks,
			Help: "run a failed or stalled thread on"},
		{ID: FailHistory, Keys: []string{"H"}, Title: "History", Footer: "history", Help: "history of this thread"},
		{ID: DeleteFailed, Keys: []string{"D"}, Title: "Delete the thread", Footer: "delete", Effect: Asks,
			Help: "delete the thread with all its steps (type the count)"},
		{ID: Outputs, Keys: []string{"enter", "l", "right"}, Title: "Read the outputs", Footer: "outputs",
			Help: "what the thread gave", Hidden: true},
		{ID: DoneHistory, Keys: []string{"H"}, Title: "History", Footer: "history", Help: "history of this thread"},
		{ID: DeleteDone, Keys: []string{"D"}, Title: "Delete the thread", Footer: "delete", Effect: Asks,
			Help: "delete the thread with all its steps (type the count)"},
		{ID: ThreadBack, Keys: []string{"h", "left"}, Title: "Back to the list", Help: "back to the list", Hidden: true},
		{ID: ThreadCancel, Keys: []string{"x"}, Title: "Cancel the run", Footer: "cancel", Effect: Asks,
			Help: "cancel the run; says whether the question comes back"},
		{ID: ThreadCarryOn, Keys: []string{"o"}, Title: "Carry on", Footer: "carry on", Effect: Asks,
			Help: "run a failed or stalled thread on"},
		{ID: ThreadHistory, Keys: []string{"H"}, Title: "History", Footer: "history", Help: "history of this thread"},
		{ID: ThreadWrap, Keys: []string{"W"}, Title: "Wrap", Help: "wrap long lines on or off"},
	}
}
