/// Neighbouring cells of one row that are written together.
package struct CellRun: Sendable, Equatable {
    package var column: Int
    package var row: Int
    package var cells: [Cell]
}
