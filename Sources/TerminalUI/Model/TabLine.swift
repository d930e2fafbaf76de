package import Media

/// Where the tabs stand in the top line: what is drawn there and what a click there means. Pure.
///
/// A line too short for all titles keeps that of the open view, and the numbers of the others.
package struct TabLine: Sendable, Equatable {
    package struct Tab: Sendable, Equatable {
        package var view: ViewName
        package var text: SafeText
        package var columns: Range<Int>
    }

    package let tabs: [Tab]

    package init(open view: ViewName, columns: Int) {
        let full = Self.tabs { "\($0.number) " + $0.title.string }
        let short = Self.tabs { $0 == view ? "\($0.number) " + $0.title.string : "\($0.number)" }
        let fitting = [full, short].first { ($0.last?.columns.upperBound ?? 0) < columns }
        let alone = Tab(view: view, text: view.title, columns: 1..<1 + view.title.columns)
        tabs = fitting ?? [alone]
    }

    /// The first column behind the tabs.
    package var end: Int { tabs.last?.columns.upperBound ?? 0 }

    /// The view whose tab is at `column`; nil between tabs.
    package func view(at column: Int) -> ViewName? {
        tabs.first { $0.columns.contains(column) }?.view
    }

    private static func tabs(_ text: (ViewName) -> String) -> [Tab] {
        var column = 1
        return ViewName.allCases.map { view in
            let text = SafeText(text(view))
            defer { column += text.columns + 2 }
            return Tab(view: view, text: text, columns: column..<column + text.columns)
        }
    }
}
