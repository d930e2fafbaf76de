#!/bin/sh
# Makes the music of this folder. Needs sox, lame, ffmpeg and python3; the same versions make the same bytes.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One wave of arpeggios: synthesise SECONDS RATE CHANNELS ROOT FILE. Plucked notes of a chord that
# changes every two seconds, over a soft bass, without any randomness.
synthesise() {
    python3 - "$@" <<'PYTHON'
import array, math, sys, wave

seconds, rate, channels, root = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
chords = [(0, 4, 7, 12), (-3, 0, 4, 9), (-7, -3, 0, 5), (-5, -1, 2, 7)]
frames = int(seconds * rate)
mix = [[0.0] * frames for _ in range(channels)]

def note(start, length, pitch, gain, pan):
    first = int(start * rate)
    step = 2 * math.pi * pitch / rate
    for index in range(min(int(length * rate), frames - first)):
        time = index / rate
        envelope = min(1, time / 0.008) * math.exp(-3 * time) * min(1, (length - time) / 0.02)
        value = gain * envelope * (math.sin(step * index) + 0.3 * math.sin(2 * step * index))
        for channel in range(channels):
            side = 1 if channels == 1 else (1 - pan if channel == 0 else pan)
            mix[channel][first + index] += value * side

beat = 0
while beat * 0.25 < seconds:
    chord = chords[(beat // 8) % 4]
    pitch = root * 2 ** (chord[beat % 4] / 12)
    note(beat * 0.25, 1.2, pitch, 0.25, 0.3 + 0.4 * (beat % 4) / 3)
    if beat % 8 == 0:
        note(beat * 0.25, 2.0, root / 2 * 2 ** (chord[0] / 12), 0.35, 0.5)
    beat += 1

samples = array.array("h")
for index in range(frames):
    fade = min(1, (frames - index) / (0.5 * rate))
    for channel in range(channels):
        samples.append(int(max(-1, min(1, mix[channel][index] * fade)) * 32000))
with wave.open(sys.argv[5], "wb") as out:
    out.setnchannels(channels)
    out.setsampwidth(2)
    out.setframerate(rate)
    out.writeframes(samples.tobytes())
PYTHON
}

encode() { lame --quiet --noreplaygain "$@"; }

synthesise 15 44100 2 261.63 "$work/morning.wav"
encode -b 128 --cbr --tt "Morning Steps" --ta "Reprise" --tl "Examples" --tn 1/9 "$work/morning.wav" 01-cbr.mp3
synthesise 15 44100 2 293.66 "$work/river.wav"
encode -V 4 --tt "River" --ta "Reprise" --tl "Examples" --tn 2/9 "$work/river.wav" 02-vbr.mp3
synthesise 12 44100 2 329.63 "$work/wander.wav"
encode -V 5 -t "$work/wander.wav" 03-vbr-without-header.mp3
synthesise 12 44100 1 220 "$work/alone.wav"
encode -b 64 -m m --tt "Alone" --ta "Reprise" --tl "Examples" --tn 4/9 "$work/alone.wav" 04-mono.mp3
synthesise 12 22050 2 196 "$work/radio.wav"
encode -b 56 --tt "Old Radio" --ta "Reprise" --tl "Examples" --tn 5/9 "$work/radio.wav" 05-22050-hz.mp3

# A title and an artist in two scripts, and a cover of noise, which no encoder makes small.
synthesise 10 44100 2 246.94 "$work/cover.wav"
encode -b 128 "$work/cover.wav" "$work/cover.mp3"
python3 - "$work/cover.ppm" <<'PYTHON'
import random, sys

source = random.Random(1)
with open(sys.argv[1], "wb") as out:
    out.write(b"P6 450 450 255\n" + bytes(source.getrandbits(8) for _ in range(450 * 450 * 3)))
PYTHON
ffmpeg -v error -y -bitexact -i "$work/cover.ppm" "$work/cover.png"
ffmpeg -v error -y -bitexact -i "$work/cover.mp3" -i "$work/cover.png" -map 0:a -map 1:v -c copy -id3v2_version 3 \
    -metadata title="桜の季節" -metadata artist="Кино и весна" -metadata album="Examples" -metadata track=6/9 \
    06-cover.mp3

# One wave in three pieces, whose lengths are no multiples of a frame. Each states its delay and padding, so that
# the three join to the wave again, sample for sample in number.
synthesise 24 44100 2 174.61 "$work/whole.wav"
sox -D "$work/whole.wav" "$work/piece1.wav" trim 0s =352801s
sox -D "$work/whole.wav" "$work/piece2.wav" trim 352801s =705603s
sox -D "$work/whole.wav" "$work/piece3.wav" trim 705603s
for piece in 1 2 3; do
    encode -b 112 --cbr --tt "Evening, Part $piece" --ta "Reprise" --tl "Examples" --tn $((piece + 6))/9 \
        "$work/piece$piece.wav" "0$((piece + 6))-evening-$piece.mp3"
done

# The album of the demo, in parts that differ in loudness, as the waveform shows. Its first piece has chapters.
album() {
    python3 compose.py "$2" "$work/$2.wav"
    lame --quiet --noreplaygain --abr 48 --resample 32 --tt "$3" --ta "Reprise" --tl "Night Ferry" --ty 2026 --tn "$1/4" \
        "$work/$2.wav" "night-ferry/$1-$2.mp3"
}
album 1 night-ferry "Night Ferry"
album 2 casting-off "Casting Off"
album 3 harbour-lights "Harbour Lights"
album 4 landfall "Landfall"
{
    printf ';FFMETADATA1\ntitle=Night Ferry\nartist=Reprise\nalbum=Night Ferry\ndate=2026\ntrack=1/4\n'
    while read -r start end title; do
        printf '[CHAPTER]\nTIMEBASE=1/1\nSTART=%s\nEND=%s\ntitle=%s\n' "$start" "$end" "$title"
    done <<'CHAPTERS'
0 8 The Quay
8 18 Slow Ahead
18 38 Open Water
38 52 Fog
52 72 The Far Shore
72 78 Moored
CHAPTERS
} >"$work/chapters"
ffmpeg -v error -y -bitexact -i night-ferry/1-night-ferry.mp3 -i "$work/chapters" -map 0:a -map_metadata 1 \
    -map_chapters 1 -c copy -id3v2_version 3 "$work/chapters.mp3"
mv "$work/chapters.mp3" night-ferry/1-night-ferry.mp3
