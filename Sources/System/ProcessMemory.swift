import CSystem

package enum ProcessMemory {
    /// Lets the process hold little memory that it has freed, from now on: blocks of 256 KiB or more return
    /// to the system at once, and threads share what is free of smaller ones.
    package static func limitFreeBlocks() { csystem_limit_free_blocks() }
}
