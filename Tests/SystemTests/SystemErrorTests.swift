import Glibc
import System
import Testing

@Suite struct SystemErrorTests {
    @Test func `an error names the attempt and the system's reason`() {
        errno = ENOENT
        let error = SystemError("open the index")
        #expect(error.description == "can't open the index (No such file or directory)")
        #expect(error == SystemError("open the index", number: ENOENT))
        #expect(SystemError.reason(EACCES) == "Permission denied")
        #expect(!SystemError.reason(9_999).isEmpty)
    }

    @Test(
        arguments: [
            (ENOSPC, true, true), (EDQUOT, true, true), (EROFS, false, true), (EACCES, false, true),
            (EPERM, false, true), (EIO, false, false), (ENOENT, false, false),
        ] as [(CInt, Bool, Bool)]
    )
    func `a full disk, a refusal and other failures differ`(number: CInt, isFullDisk: Bool, isRefusal: Bool) {
        let error = SystemError("write", number: number)
        #expect(error.isFullDisk == isFullDisk && error.isRefusal == isRefusal)
    }

    @Test func `only a negative result is a failure`() throws {
        for result in [0, 7] as [CInt] { #expect(try check("try", result) == result) }
        errno = EMFILE
        #expect(throws: SystemError("try", number: EMFILE)) { try check("try", -1) }
    }

    @Test func `a call is repeated while signals interrupt it, and no longer`() {
        for (error, expected, count) in [(EINTR, 5, 3), (EIO, -1, 1)] {
            var calls = 0
            let result = retryingInterrupted { () -> Int in
                calls += 1
                errno = error
                return calls < 3 ? -1 : 5
            }
            #expect(result == expected && calls == count)
        }
    }
}
