import CSystem

package enum ProcessMemory {
    /// Lets freed blocks of 256 KiB or more return to the system at once, for the rest of the process.
    package static func returnLargeBlocks() { csystem_return_large_blocks() }
}
