package import Media

/// An event that can change the screen.
package enum UIEvent: Sendable, Equatable {
    case key(Key)
    /// Pasted text, unchanged. It runs no keys.
    case pasted(String)
    /// The paths that begin with a word, the result of `UIAction.listPaths`.
    case listed(word: String, paths: [String])
    /// All themes, the result of `UIAction.listThemes`.
    case themes([ThemeChoice], word: String)
    /// The names of all sound devices, the current one first; the result of `UIAction.listDevices`.
    case devices([String], word: String)
    case mouse(MouseEvent)
    case snapshot(PlayerSnapshot)
    /// The content of the cache; `nil` if there is no cache.
    case cache(CacheContents?)
    /// The newest records and the number of all so far; and the running requests, in the order they began.
    case requests([JournalRecord], count: Int, underWay: [JournalRecord])
    /// The oldest question for a log-in without an answer.
    case login(LoginQuestion)
    /// The log-in was kept for later sessions, or could not be.
    case loginKept(MediaError?)
    /// The shell has time for one slice of the work that `UIState.hasWork` reports.
    case idle
    /// The spectrum and levels of the sound being heard, on the shell's clock; `nil` if there is no sound.
    case sound(SoundPicture?, at: Duration)
    case resized(columns: Int, rows: Int)
    /// The terminal reports the colour of its background. Only the shell handles it.
    case background(ScreenColor)
    /// The answer and the message at the bottom were shown for `NoticeTimer.longest`.
    case noticeExpired
    /// No key was pressed for `ScreenLoop.typingPause`: the next one begins something new.
    case typingPaused
    /// A signal requests the end of the program.
    case endRequested
}

/// A mouse action at a cell of the window.
package struct MouseEvent: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The left button went down.
        case press
        /// The left button went down again, soon and at the same place. Follows its `press`.
        case doublePress
        /// The pointer moved while the left button was down.
        case drag
        /// A button went up.
        case release
        case wheelUp
        case wheelDown
    }

    package var kind: Kind
    /// From 0, at the left.
    package var column: Int
    /// From 0, at the top.
    package var row: Int

    package init(_ kind: Kind, column: Int, row: Int) {
        self.kind = kind
        self.column = column
        self.row = row
    }
}

/// An action that the shell must take after an event.
package enum UIAction: Sendable, Equatable {
    case send(PlayerCommand)
    /// Saves an entered line in the command history.
    case remember(String)
    /// Lists the files and folders whose path begins with this; `UIEvent.listed` returns them.
    case listPaths(String)
    /// Reads the themes again; `UIEvent.themes` returns them, with this word.
    case listThemes(String)
    /// Looks up the sound devices; `UIEvent.devices` returns them, with this word.
    case listDevices(String)
    /// Starts or stops watching the cache, which is read at once and again after each change.
    case watchCache(Bool)
    /// Answers the question of this number.
    case answer(Int, LoginAnswer)
    case evict(CachedItem.ID)
    case setPinned(CachedItem.ID, Bool)
    /// Starts or stops the analysis of the sound.
    case watchSound(Bool)
    /// Writes every cell again, because another program may have written on the terminal.
    case redrawAll
    /// Leaves the screen once the player is over, or after a bounded wait.
    case leave
}

/// The result of a command: actions for the shell, and a line for the user.
struct CommandOutcome {
    var actions: [UIAction]
    var answer: CommandAnswer?

    static let noSelection = CommandOutcome(answer: .error("No track is selected"))

    init(_ actions: [UIAction] = [], answer: CommandAnswer? = nil) {
        self.actions = actions
        self.answer = answer
    }

    static func noSelection(in player: PlayerSnapshot) -> CommandOutcome {
        player.tracks.isEmpty ? .error("The queue is empty") : .noSelection
    }

    static func error(_ text: SafeText) -> CommandOutcome { CommandOutcome(answer: .error(text)) }

    static func notice(_ text: SafeText, _ actions: [UIAction] = []) -> CommandOutcome {
        CommandOutcome(actions, answer: .notice(text))
    }
}

/// A line in reply to the last key or command, shown until the next key, click or message, or for a while.
package struct CommandAnswer: Sendable, Equatable {
    package var text: SafeText
    package var isError = false
    /// `true` if the next key answers it: a message does not replace it.
    var isQuestion = false

    var style: Style { isError ? .error : .notice }

    static func error(_ text: SafeText) -> CommandAnswer { CommandAnswer(text: text, isError: true) }

    static func notice(_ text: SafeText) -> CommandAnswer { CommandAnswer(text: text) }
}
