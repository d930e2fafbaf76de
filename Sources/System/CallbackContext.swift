/// An object that a C library passes to its callbacks, as the pointer that `Unmanaged.toOpaque` made.
package protocol CallbackContext: AnyObject {}

extension CallbackContext {
    /// The object at `context`, which its owner keeps alive as long as the library calls; `nil` if there is
    /// none.
    @inlinable
    package static func from(_ context: UnsafeMutableRawPointer?) -> Self? {
        context.map { Unmanaged<Self>.fromOpaque($0).takeUnretainedValue() }
    }
}
