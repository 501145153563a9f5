import type { Event } from '../../../../../server/events/protocol/event.api.ts'
import { fileTexts } from '../file-texts.ts'

/** Facts of a native crash and its loaded images, from the normalised event. Pure. */

type Json = Event['extra'][string] | undefined
type Image = Event['debug_images'][number]

export type CrashFact = { label: string; value: string; note?: string }

const textOf = (value: Json): string | null =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : null

/** `/srv/app/libgame.so` → `libgame.so`. */
export const pathFileName = (path: string): string => path.split(/[\\/]/u).at(-1) ?? path

export function crashFacts(event: Event): CrashFact[] {
  const minidump = event.contexts['minidump'] ?? {}
  const crashed = event.threads.find((thread) => thread.crashed)
  const frame = event.exceptions.at(-1)?.stacktrace?.frames.at(-1) ?? crashed?.stacktrace?.frames.at(-1)
  const threadId = textOf(minidump['crashed_thread'])
  const thread = crashed?.name == null ? threadId : `${crashed.name} (${crashed.id ?? threadId ?? ''})`
  const facts: (CrashFact | null)[] = [
    factOf(fileTexts.reason, textOf(minidump['crash_reason'])),
    factOf(fileTexts.address, textOf(minidump['crash_address'])),
    frame?.package == null
      ? null
      : {
          label: fileTexts.where,
          value: `${pathFileName(frame.package)}${offsetOf(frame.instruction_addr, frame.image_addr)}`,
          note: frame.package,
        },
    factOf(fileTexts.thread, thread),
    factOf(fileTexts.processor, textOf(event.contexts['device']?.['arch'])),
    factOf(fileTexts.process, textOf(minidump['process_id'])),
    factOf(fileTexts.notRead, textOf(minidump['problems'])),
  ]
  return facts.filter((fact) => fact !== null)
}

const factOf = (label: string, value: string | null): CrashFact | null => (value === null ? null : { label, value })

/** ` + 0x1119`: the offset in the image, used to look up symbols. */
function offsetOf(address: string | null, image: string | null): string {
  const [at, start] = [addressOf(address), addressOf(image)]
  return at === null || start === null || at < start ? '' : ` + 0x${(at - start).toString(16)}`
}

const addressOf = (text: string | null): bigint | null =>
  text !== null && /^0x[0-9a-f]{1,16}$/iu.test(text) ? BigInt(text) : null

export type LoadedImage = { name: string; path: string; version: string; debugId: string; address: string }

/** Loaded images as rows of a table. */
export const imageRows = (images: readonly Image[]): LoadedImage[] =>
  images.map((image) => {
    const path = textOf(image['code_file']) ?? textOf(image['debug_file']) ?? textOf(image['type']) ?? ''
    return {
      name: pathFileName(path),
      path,
      version: textOf(image['version']) ?? '',
      debugId: textOf(image['debug_id']) ?? textOf(image['uuid']) ?? '',
      address: textOf(image['image_addr']) ?? '',
    }
  })
