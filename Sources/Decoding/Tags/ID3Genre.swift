import Media

/// The genres that ID3 numbers: those of ID3v1, and the ones that Winamp added.
enum ID3Genre {
    /// The name of the genre `number`; `nil` if it has none.
    static func name(_ number: Int?) -> String? {
        number.flatMap { names.indices.contains($0) ? String(names[$0]) : nil }
    }

    /// The genres in the `values` of a frame `TCON`, each once; `nil` if the frame names no genre. Only the
    /// first 16 values count, since a hostile tag may have thousands.
    ///
    /// A value is a name or, in version 2.4, a number. Before, numbers stood in parentheses, with or without
    /// a name behind them: `(17)`, `(51)(39)`, `(4)Eurodisco`.
    static func text(_ values: [String]) -> SafeText? {
        var found: [String] = []
        for value in values.prefix(16) {
            var rest = value[...]
            while rest.hasPrefix("("), let end = rest.firstIndex(of: ")"),
                let genre = name(of: rest[rest.index(after: rest.startIndex)..<end])
            {
                found.append(genre)
                rest = rest[rest.index(after: end)...].drop { $0 == " " }
            }
            // A parenthesis that begins a name is doubled.
            if rest.hasPrefix("((") { rest = rest.dropFirst() }
            if !rest.isEmpty { found.append(name(of: rest) ?? String(rest)) }
        }
        let genres = found.enumerated().filter { !found[..<$0].contains($1) }.map(\.element)
        return genres.isEmpty ? nil : SafeText(genres.joined(separator: ", "))
    }

    /// The name of a genre that is written as a number, or as one of two abbreviations.
    private static func name(of text: Substring) -> String? {
        ["RX": "Remix", "CR": "Cover"][text] ?? name(Int(text))
    }

    private static let names = """
        Blues;Classic Rock;Country;Dance;Disco;Funk;Grunge;Hip-Hop;Jazz;Metal;New Age;Oldies;Other;Pop;R&B;\
        Rap;Reggae;Rock;Techno;Industrial;Alternative;Ska;Death Metal;Pranks;Soundtrack;Euro-Techno;Ambient;\
        Trip-Hop;Vocal;Jazz-Funk;Fusion;Trance;Classical;Instrumental;Acid;House;Game;Sound Clip;Gospel;\
        Noise;Alternative Rock;Bass;Soul;Punk;Space;Meditative;Instrumental Pop;Instrumental Rock;Ethnic;\
        Gothic;Darkwave;Techno-Industrial;Electronic;Pop-Folk;Eurodance;Dream;Southern Rock;Comedy;Cult;\
        Gangsta;Top 40;Christian Rap;Pop/Funk;Jungle;Native American;Cabaret;New Wave;Psychedelic;Rave;\
        Showtunes;Trailer;Lo-Fi;Tribal;Acid Punk;Acid Jazz;Polka;Retro;Musical;Rock & Roll;Hard Rock;Folk;\
        Folk Rock;National Folk;Swing;Fast Fusion;Bebop;Latin;Revival;Celtic;Bluegrass;Avantgarde;\
        Gothic Rock;Progressive Rock;Psychedelic Rock;Symphonic Rock;Slow Rock;Big Band;Chorus;\
        Easy Listening;Acoustic;Humour;Speech;Chanson;Opera;Chamber Music;Sonata;Symphony;Booty Bass;Primus;\
        Porn Groove;Satire;Slow Jam;Club;Tango;Samba;Folklore;Ballad;Power Ballad;Rhythmic Soul;Freestyle;\
        Duet;Punk Rock;Drum Solo;A Cappella;Euro-House;Dancehall;Goa;Drum & Bass;Club-House;Hardcore;Terror;\
        Indie;Britpop;Afro-Punk;Polsk Punk;Beat;Christian Gangsta Rap;Heavy Metal;Black Metal;Crossover;\
        Contemporary Christian;Christian Rock;Merengue;Salsa;Thrash Metal;Anime;J-Pop;Synth-Pop;Abstract;\
        Art Rock;Baroque;Bhangra;Big Beat;Breakbeat;Chillout;Downtempo;Dub;EBM;Eclectic;Electro;\
        Electroclash;Emo;Experimental;Garage;Global;IDM;Illbient;Industro-Goth;Jam Band;Krautrock;Leftfield;\
        Lounge;Math Rock;New Romantic;Nu-Breakz;Post-Punk;Post-Rock;Psytrance;Shoegaze;Space Rock;Trop Rock;\
        World Music;Neoclassical;Audiobook;Audio Theatre;Neue Deutsche Welle;Podcast;Indie Rock;G-Funk;\
        Dubstep;Garage Rock;Psybient
        """.split(separator: ";")
}
