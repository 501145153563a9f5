import type { Event, Frame } from '../../events/protocol/event.api.ts'
import { isInApp } from '../../events/protocol/in-app.ts'
import { imageAt, type ImageRange, imageRanges } from '../../events/protocol/frames.ts'
import type { FoundFile } from '../files/indexes.queries.ts'
import { findFrames, type NativeFrame, nativeParts } from '../native/find-frames.ts'
import { lookupAddress } from '../native/lookup-address.ts'
import { keepRaw, type Replacements, type Symbolication, unreadableFrame } from './readable-frame.ts'
import { isReady } from './symbol-reader.ts'

/** Frames of native code through debug files, by the debug id of the image that their address lies in. */

type Placed = { readonly frame: Frame; readonly debugId: string; readonly imageAddr: string; readonly isTop: boolean }

/** Adds the frames that a debug file makes readable, each with its inlined calls. */
export async function readNativeFrames(of: Symbolication, replacements: Replacements): Promise<void> {
  const { reader, orgId, projectId, event } = of
  const placed = placedFrames(event)
  if (placed.length === 0) return
  const ids = [...new Set(placed.map(({ debugId }) => debugId))]
  const found = await reader.byDebugId(projectId, ids)
  const files = new Map(ids.map((id, n) => [id, found[n] ?? null]))
  const ofOtherBuilds = await namesOfOtherBuilds(
    of,
    placed.filter((one) => (files.get(one.debugId) ?? null) === null && isNameless(one)),
  )
  const cpuName = cpuOf(event)
  for (const [debugId, ofImage] of Map.groupBy(placed, (one) => one.debugId)) {
    const file: FoundFile | null = files.get(debugId) ?? null
    if (!isReady(file)) {
      const reason =
        file?.state === 'failed'
          ? 'broken_file'
          : file === null && ofOtherBuilds.has(nameOf(ofImage))
            ? 'wrong_build'
            : 'missing_file'
      const nameless = ofImage.filter(isNameless)
      for (const { frame } of nameless) replacements.set(frame, unreadableFrame(frame, reason))
      if (nameless.length > 0) of.watcher?.onMissing({ kind: 'debug_file', name: nameOf(nameless), debugId, reason })
      continue
    }
    const index = await reader.open(orgId, file)
    if (index === null) continue
    const { directory } = index
    const addresses = ofImage.map((one) => addressIn(one, cpuName))
    const chains = await index.chains.of(addresses, async (unknown) => {
      const wanted = unknown.map((n) => addresses[n] ?? null)
      const parts = wanted.flatMap((address) => (address === null ? [] : nativeParts(directory, address)))
      const part = await reader.load(orgId, file, parts)
      return wanted.map((address) => (address === null ? [] : findFrames(directory, part, address)))
    })
    for (const [n, { frame }] of ofImage.entries()) {
      const chain = chains[n] ?? []
      if (chain.length === 0) {
        if (!isNamed(frame)) replacements.set(frame, unreadableFrame(frame, 'no_line'))
        continue
      }
      of.watcher?.onUsed(file.id)
      const platform = frame.platform ?? event.platform
      replacements.set(
        frame,
        chain.toReversed().map((one, place) => readableFrame(frame, one, place > 0, platform)),
      )
    }
  }
}

/** Names of images whose file is missing, where the project has a file of that name. */
async function namesOfOtherBuilds(
  { reader, projectId }: Symbolication,
  placed: readonly Placed[],
): Promise<ReadonlySet<string>> {
  const names = [...new Set(placed.map((one) => nameOf([one])))].filter((name) => name !== '')
  if (names.length === 0) return new Set()
  const found = await reader.byName(projectId, names)
  return new Set(names.filter((_, n) => (found[n] ?? null) !== null))
}

/** The address to look up; null when it cannot be read. */
function addressIn({ frame, imageAddr, isTop }: Placed, cpuName: string): number | null {
  const instructionAddr = addressOf(frame.instruction_addr)
  const base = addressOf(imageAddr)
  if (instructionAddr === null || base === null) return null
  return lookupAddress({ instructionAddr, imageAddr: base, isReturnAddress: !isTop, cpuName }) ?? null
}

const addressOf = (text: string | null): bigint | null =>
  text !== null && /^0x[0-9a-f]{1,16}$/iu.test(text) ? BigInt(text) : null

const nameOf = ([first]: readonly Placed[]): string => {
  const path = first?.frame.package ?? ''
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
}

const isNamed = ({ function: name }: Frame): boolean =>
  name !== null && !/^(?:0x[0-9a-f]+|<redacted>|<unknown>|\?+|_mh_\w+|__mh_\w+|stripped_application_code)$/iu.test(name)

/** Whether the frame should have the name that a file would give it. */
const isNameless = ({ frame }: Placed): boolean => frame.in_app && !isNamed(frame)

function placedFrames(event: Event): Placed[] {
  const images = event.debug_images.filter(({ debug_id: id, type }) => typeof id === 'string' && type !== 'sourcemap')
  if (images.length === 0) return []
  // An event names hundreds of images, its frames are in a few.
  let ranges: ImageRange[] | null = null
  const idOf = new Map(images.map(({ image_addr: at, debug_id: id }) => [at, id]))
  const uuids = new Map<string, string | null>()
  const uuidOf = (imageAddr: string): string | null => {
    let uuid = uuids.get(imageAddr)
    if (uuid === undefined) uuids.set(imageAddr, (uuid = readUuid(idOf.get(imageAddr))))
    return uuid
  }
  const placed: Placed[] = []
  for (const { stacktrace } of [...event.exceptions, ...event.threads]) {
    if (stacktrace === null) continue
    for (const [n, frame] of stacktrace.frames.entries()) {
      if (frame.instruction_addr === null) continue
      const imageAddr =
        frame.image_addr ?? imageAt((ranges ??= imageRanges(images)), frame.instruction_addr)?.imageAddr ?? null
      const debugId = imageAddr === null ? null : uuidOf(imageAddr)
      if (imageAddr !== null && debugId !== null)
        placed.push({ frame, debugId, imageAddr, isTop: n === stacktrace.frames.length - 1 })
    }
  }
  return placed
}

/** Debug ids of Breakpad have an age behind the UUID. */
export const readUuid = (id: unknown): string | null =>
  typeof id === 'string'
    ? (/^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})/iu
        .exec(id)
        ?.slice(1)
        .join('-')
        .toLowerCase() ?? null)
    : null

function cpuOf({ contexts, debug_images: images }: Event): string {
  const arch = images.find((image) => typeof image['arch'] === 'string')?.['arch'] ?? contexts['device']?.['arch']
  return typeof arch === 'string' ? arch : ''
}

function readableFrame(frame: Frame, one: NativeFrame, isInlined: boolean, platform: string): Frame {
  const readable: Frame = {
    ...frame,
    function: one.functionName,
    raw_function: one.rawName ?? frame.raw_function,
    filename: one.file === null ? frame.filename : one.file.slice(one.file.lastIndexOf('/') + 1),
    abs_path: one.file ?? frame.abs_path,
    lineno: one.line,
    raw: keepRaw(frame),
    ...(isInlined ? { is_inlined: true } : {}),
  }
  if (frame.package === null) readable.in_app = isInApp(readable, platform)
  return readable
}
