import { execFileSync } from 'node:child_process'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { z } from 'zod'
import type { BuiltIndex, PositionedFile } from '#server/symbols/index-file/built-index.ts'
import { buildNativeIndex } from '#server/symbols/native/build-native-index.ts'
import { findFrames, type NativeFrame } from '#server/symbols/native/find-frames.ts'
import { listObjects } from '#server/symbols/native/list-objects.ts'
import type { NativeObject } from '#server/symbols/native/native-object.ts'

/** Our reader of debug files beside llvm-symbolizer. */

/** Raw name, file and line of each call at an address, innermost first; empty texts and 0 where they are not known. */
export type Chain = readonly (readonly [string, string, number])[]

const run = (program: string, args: readonly string[], input = ''): string =>
  execFileSync(program, [...args], { input, maxBuffer: 1 << 30, stdio: ['pipe', 'pipe', 'ignore'] }).toString()

/** Addresses of code, relative to the image: every second one, or `most` that are spread over the code. */
export function codeAddresses(objdump: string, path: string, most = Infinity): number[] {
  const text = run(objdump, ['--section-headers', path])
  const sections = [...text.matchAll(/^ *\d+ (?:\.text|__text) +([0-9a-f]{8}) ([0-9a-f]+) (?:[0-9a-f]+ )?.*TEXT/gm)]
  const addresses = sections.flatMap(([, size = '', start = '']) =>
    Array.from({ length: Math.ceil(Number.parseInt(size, 16) / 2) }, (_, at) => Number.parseInt(start, 16) + 2 * at),
  )
  const step = Math.max(1, addresses.length / most)
  return Array.from({ length: Math.min(most, addresses.length) }, (_, at) => addresses[Math.floor(at * step)] ?? 0)
}

const Answer = z.object({
  Symbol: z.array(z.object({ FunctionName: z.string(), FileName: z.string(), Line: z.number() })),
})

/** Asks llvm-symbolizer about addresses. */
export function askSymbolizer(symbolizer: string, path: string, addresses: readonly number[]): Chain[] {
  const input = addresses.map((address) => `0x${address.toString(16)}`).join('\n')
  const lines = run(symbolizer, ['--output-style=JSON', '--no-demangle', '-e', path], input).trim().split('\n')
  return lines.map((line) =>
    Answer.parse(JSON.parse(line)).Symbol.map((one) => [one.FunctionName, one.FileName, one.Line] as const),
  )
}

/** An index with all of its parts. */
export function wholeIndex(file: PositionedFile, object: NativeObject): BuiltIndex {
  const parts: Buffer[] = []
  return { directory: buildNativeIndex(file, object, (part) => void parts.push(part)), parts }
}

/** Frames at addresses of a file, from an index of it. */
export function readFrames(path: string, addresses: readonly number[]): NativeFrame[][] {
  const handle = openSync(path, 'r')
  try {
    const file: PositionedFile = {
      sizeBytes: fstatSync(handle).size,
      read(position, length) {
        const bytes = Buffer.alloc(length)
        return bytes.subarray(0, readSync(handle, bytes, 0, length, position))
      },
    }
    const [object] = listObjects(file).objects
    if (object === undefined) throw new Error(`${path} holds nothing`)
    const { directory, parts } = wholeIndex(file, object)
    return addresses.map((address) => findFrames(directory, (part) => parts[part] ?? Buffer.alloc(0), address))
  } finally {
    closeSync(handle)
  }
}

/** Suffixes of clones, which llvm-symbolizer takes from the symbol table, and the two symbols of one destructor. */
export const plainName = (name: string): string =>
  name.replace(/\.(?:constprop|isra|part|cold|llvm)\b.*$/, '').replace(/D[12]Ev$/, 'DEv')

/** Our frames in the form of a chain. */
export const chainOf = (frames: readonly NativeFrame[]): Chain =>
  frames.map(({ rawName, file, line }) => [plainName(rawName ?? ''), file ?? '', line ?? 0])

/** The chain that ours should be where llvm-symbolizer gives one; null where it knows no function. */
export function expectedChain(theirs: Chain): Chain | null {
  const [first] = theirs
  if (first === undefined) return null
  // Padding behind a function belongs to no function, though the line program continues there.
  if (theirs.length === 1 && first[0] === '') return null
  // Without debug information it takes the file of the symbol table, which is no path.
  const hasLines = theirs.length > 1 || first[2] > 0 || first[1].startsWith('/')
  return theirs.map(([name, file, line]) => [plainName(name), hasLines ? file : '', line])
}
