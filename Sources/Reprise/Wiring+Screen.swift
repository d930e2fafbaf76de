import Glibc
import Media
import System
import TerminalUI

/// What the screen shows besides the player.
extension Wiring {
    static func surroundings(
        kept: CacheBrowser?,
        requests: RequestHistory,
        clock: any MonotonicClock
    ) -> ScreenSurroundings {
        // The player's clock began at some moment of the calendar, which is asked once.
        let start = Int64(time(nil)) - clock.now.components.seconds
        return ScreenSurroundings(
            cache: kept,
            requests: requests,
            timeOfDay: { moment in
                SafeText(CalendarTime.timeOfDay(secondsSince1970: start &+ moment.components.seconds))
            }
        )
    }
}
