/// Mends the completion scripts of ArgumentParser for a command that takes both files and commands.
///
/// To ArgumentParser, `cache` in `reprise cache list` is the first file. Its script for bash then completes
/// files only, that for zsh fails, and that for fish offers commands as a second word.
enum CompletionScript {
    /// `script` for any shell, changed so that the first word decides, as in `Invocation.parse`: after one of
    /// `commands` come its own words, otherwise files.
    static func mended(_ script: String, commands: [String]) -> String {
        var script = script
        for (text, replacement) in replacements(commands) {
            script = script.replacing(text, with: replacement, maxReplacements: 1)
        }
        // The command `help`, which only ArgumentParser itself has.
        let lines = script.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.filter { !$0.contains("Show subcommand help information.") }
            .map {
                $0.replacing(#"for_positional "reprise" -eq 2'"#, with: #"for_positional "reprise" -eq 1'"#)
            }
            .joined(separator: "\n")
    }

    /// Each text is in the script of one shell, and first in the function for `reprise` itself.
    private static func replacements(_ commands: [String]) -> [(text: String, replacement: String)] {
        let words = commands.joined(separator: " ")
        let pattern = commands.joined(separator: "|")
        return [
            // bash
            (
                "\n_reprise() {\n    local state\n",
                #"""

                _reprise() {
                    if ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} =~ ^(\#(pattern))$ ]]; then
                        local -r cur=$2 prev=$3
                        local -i positional_number
                        local -a repeating_flags non_repeating_flags repeating_options non_repeating_options
                        local -a unparsed_words=("${COMP_WORDS[@]:2:COMP_CWORD-1}")
                        "_reprise_${COMP_WORDS[1]}"
                    else
                        _reprise_play "$@"
                        ((COMP_CWORD > 1)) || COMPREPLY+=($(compgen -W '\#(words)' -- "$2"))
                    fi
                }

                _reprise_play() {
                    local state

                """#
            ),
            // zsh
            (
                "\n_reprise() {\n    emulate",
                #"""

                _reprise() {
                    if ((CURRENT > 2)) && [[ ${words[2]} == (\#(pattern)) ]]; then
                        emulate -RL zsh -G
                        setopt extendedglob nullglob numericglobsort
                        unsetopt aliases banghist
                        local context state state_descr line
                        local -A opt_args
                        shift words
                        ((CURRENT--))
                        "_reprise_${words[1]}"
                    else
                        ((CURRENT > 2)) || compadd \#(words)
                        _reprise_play "$@"
                    fi
                }

                _reprise_play() {
                    emulate
                """#
            ),
            ("\n        '(-): :->command'\n        '(-)*:: :->arg'\n    )", "\n    )"),
            // fish
            (
                "    case 'reprise'\n        __reprise_parse_subcommand -r 1",
                #"""
                    case 'reprise'
                        set -l sources -r 1
                        contains -- "$unparsed_tokens[2]" \#(words); and set sources 0
                        __reprise_parse_subcommand $sources
                """#
            ),
        ]
    }
}
