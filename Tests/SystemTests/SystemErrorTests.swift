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
    func `a full disk is told from a refusal, and both from other failures`(
        number: CInt,
        isFullDisk: Bool,
        isRefusal: Bool
    ) {
        let error = SystemError("write", number: number)
        #expect(error.isFullDisk == isFullDisk)
        #expect(error.isRefusal == isRefusal)
    }

    @Test func `only a negative result is a failure`() throws {
        #expect(try check("try", 0) == 0)
        #expect(try check("try", 7) == 7)
        errno = EMFILE
        #expect(throws: SystemError("try", number: EMFILE)) { try check("try", -1) }
    }

    @Test func `a call is repeated while signals interrupt it, and no longer`() {
        var calls = 0
        let result = retryingInterrupted { () -> Int in
            calls += 1
            errno = EINTR
            return calls < 3 ? -1 : 5
        }
        #expect(result == 5)
        #expect(calls == 3)
        calls = 0
        let failure = retryingInterrupted { () -> Int in
            calls += 1
            errno = EIO
            return -1
        }
        #expect(failure == -1)
        #expect(calls == 1)
    }
}
