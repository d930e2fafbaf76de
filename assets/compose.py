# Composes a piece of the album "Night Ferry": compose.py PIECE FILE.
#
# Plucked strings, bells, a soft pad, a bass and brushes, in parts that swell and fade; nothing is random.
import array, math, sys, wave

RATE, BEAT = 32_000, 0.5
CHORDS = {
    "Am": (-3, 0, 4, 9), "F": (-7, -3, 0, 5), "C": (0, 4, 7, 12), "G": (-5, -1, 2, 7),
    "Dm": (-10, -7, -3, 2), "Em": (-8, -5, -1, 4),
}
# Each part: its chords, a bar of four beats each, the instruments, and the loudness at its begin and end.
PIECES = {
    "casting-off": [
        ("Am F", "strings", 0.10, 0.3), ("C G Am F", "strings bass", 0.3, 0.7),
        ("C G Am F", "strings bass brushes", 0.75, 1.0), ("C G", "strings bass brushes", 0.9, 0.6),
        ("Am Am", "bells pad", 0.4, 0.2),
    ],
    "harbour-lights": [
        ("F C", "bells", 0.3, 0.4), ("F C Dm Am", "bells pad", 0.4, 0.8), ("F C G Am", "bells pad bass", 0.8, 0.5),
        ("F C Dm Am F C", "bells strings pad", 0.5, 0.9), ("F F", "bells", 0.4, 0.15),
    ],
    "night-ferry": [
        ("Am Em F C", "bells pad", 0.15, 0.4), ("Am Em F C Am", "strings pad", 0.3, 0.6),
        ("Am Em F G Am Em F G", "strings bass brushes", 0.6, 0.95), ("C G", "strings bass brushes", 0.95, 0.8),
        ("Dm Am Dm Em Am", "pad bells", 0.25, 0.3), ("Dm Am", "pad", 0.3, 0.15),
        ("F C G Am F C G Am", "strings bass brushes pad", 0.55, 1.0), ("F C", "strings bass", 1.0, 0.5),
        ("Am Am", "bells pad", 0.4, 0.1),
    ],
    "landfall": [
        ("C F C F", "strings pad", 0.25, 0.5), ("C F G C", "strings bass", 0.5, 0.8),
        ("Am F C G Am F C G", "strings bass brushes bells", 0.7, 1.0), ("C F C C", "bells pad", 0.5, 0.1),
    ],
}
# The overtones of a string: their numbers and loudness.
STRING = ((1, 1), (2, 0.4), (3, 0.2), (5, 0.1), (8, 0.06), (13, 0.04))

parts = PIECES[sys.argv[1]]
seconds = sum(len(chords.split()) for chords, *_ in parts) * 4 * BEAT + 2
frames = int(seconds * RATE)
mix = [array.array("d", bytes(8 * frames)) for _ in range(2)]


def sound(start, length, gain, pan, value, attack):
    first = int(start * RATE)
    left, right = gain * (1 - pan), gain * pan
    for index in range(min(int(length * RATE), frames - first)):
        time = index / RATE
        sample = min(1, time / attack) * min(1, (length - time) / 0.05) * value(time, index)
        mix[0][first + index] += left * sample
        mix[1][first + index] += right * sample


def tone(pitch, decay, overtones):
    turn = 2 * math.pi * pitch
    return lambda time, _: math.exp(-decay * time) * sum(
        part * math.sin(number * turn * time) for number, part in overtones
    )


def brush(seed):
    # A linear congruential generator: the same noise each time.
    state = seed
    def value(time, _):
        nonlocal state
        state = (state * 1_103_515_245 + 12_345) % 2**31
        return math.exp(-28 * time) * (state / 2**30 - 1)
    return value


start = 0.0
for chords, instruments, low, high in parts:
    names = chords.split()
    for bar, name in enumerate(names):
        chord = CHORDS[name]
        for step in range(8):
            gain = low + (high - low) * (bar + step / 8) / len(names)
            # The first beat of a bar and the third are louder.
            gain *= (1.0, 0.6, 0.75, 0.55, 0.9, 0.6, 0.8, 0.5)[step]
            begin = start + step * BEAT / 2
            pitch = 261.63 * 2 ** (chord[(step * 3 + bar) % 4] / 12)
            pan = 0.25 + 0.5 * (step % 4) / 3
            if "strings" in instruments:
                sound(begin, 0.9, 0.30 * gain, pan, tone(pitch, 4, STRING), 0.006)
            if "bells" in instruments and step % 4 == 0:
                sound(begin, 2.2, 0.28 * gain, 1 - pan, tone(2 * pitch, 1.8, ((1, 1), (2.76, 0.3))), 0.004)
            if "bass" in instruments and step in (0, 3, 4):
                low_pitch = 65.41 * 2 ** (chord[0] / 12)
                sound(begin, 0.7, 0.42 * gain, 0.5, tone(low_pitch, 3, ((1, 1), (2, 0.5))), 0.01)
            if "brushes" in instruments and step % 2 == 1:
                sound(begin, 0.12, 0.16 * gain, 0.6, brush(7 + step), 0.002)
        if "pad" in instruments:
            gain = low + (high - low) * bar / len(names)
            for place, note in enumerate(chord[:3]):
                pitch = 130.81 * 2 ** (note / 12)
                sound(start, 4 * BEAT + 0.4, 0.13 * gain, 0.3 + 0.2 * place, tone(pitch, 0.1, ((1, 1), (2, 0.3))), 0.5)
        start += 4 * BEAT

peak = max(max(map(abs, side)) for side in mix)
samples = array.array("h")
for index in range(frames):
    fade = min(1, (frames - index) / (1.5 * RATE))
    for side in mix:
        # Loud parts are compressed, as on most records.
        samples.append(int(math.tanh(2.5 * side[index] / peak) * fade * 31_000))
with wave.open(sys.argv[2], "wb") as out:
    out.setnchannels(2)
    out.setsampwidth(2)
    out.setframerate(RATE)
    out.writeframes(samples.tobytes())
