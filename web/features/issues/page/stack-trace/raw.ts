import type { Frame, Stacktrace } from '../../../../../server/events/protocol/event.api.ts'
import { own } from '../../../../ui/own.ts'
import { exceptionType, type Stack } from './model.ts'

/** The frames of a text: as the app sent them, or with what symbols made of them. */
export type Frames = 'sent' | 'readable'

/** A stack as the runtime prints it, for the Raw view and for copying. */
export function writeStack(stack: Stack, platform: string, frames: Frames): string {
  const write = own(WRITERS, platform) ?? writeScript
  const writer = (head: string, trace: Stacktrace | null) => write(head, framesOf(trace, frames))
  const parts = stack.exceptions.map((one, index) => {
    const head = [exceptionType(one.exception, platform), one.exception.value].filter(isText).join(': ')
    const joint = index === 0 ? '' : one.joint === 'member' ? 'One of its errors: ' : 'Caused by: '
    return writer(joint + head, one.stacktrace)
  })
  if (stack.exceptions.length === 0) parts.push(writer(threadHead(stack), stack.stacktrace))
  return parts.join('\n')
}

const isText = (text: string | null): text is string => text !== null && text !== ''

function threadHead({ thread }: Stack): string {
  if (thread === null) return 'Stack'
  return `Thread ${[thread.name ?? thread.id ?? '', thread.state].filter(isText).join(', ')}`
}

/** @param frames outermost first; null where there is no stack */
type Writer = (head: string, frames: readonly Frame[] | null) => string

/** As the app sent them, an inlined call has no frame of its own. */
function framesOf(stack: Stacktrace | null, frames: Frames): readonly Frame[] | null {
  if (stack === null || frames === 'readable') return stack?.frames ?? null
  return stack.frames
    .filter(({ is_inlined: isInlined }) => isInlined !== true)
    .map((frame) => (frame.raw === undefined ? frame : { ...frame, ...frame.raw }))
}
const at = (frame: Frame): string =>
  [frame.abs_path ?? frame.filename ?? '<unknown>', frame.lineno, frame.colno].filter((part) => part !== null).join(':')

const writeScript: Writer = (head, frames) =>
  [
    head,
    ...(frames ?? [])
      .toReversed()
      .map((frame) => (frame.function === null ? `    at ${at(frame)}` : `    at ${frame.function} (${at(frame)})`)),
  ].join('\n')

const writeJvm: Writer = (head, frames) =>
  [
    head,
    ...(frames ?? []).toReversed().map((frame) => {
      const name = [frame.module, frame.function].filter(isText).join('.')
      const place =
        frame.filename === null
          ? 'Unknown Source'
          : [frame.filename, frame.lineno].filter((part) => part !== null).join(':')
      return `    at ${name}(${place})`
    }),
  ].join('\n')

const writePython: Writer = (head, frames) =>
  [
    ...(frames === null ? [] : ['Traceback (most recent call last):']),
    ...(frames ?? []).flatMap((frame) => [
      `  File "${frame.abs_path ?? frame.filename ?? '<unknown>'}", line ${frame.lineno ?? '?'}, in ${frame.function ?? '<unknown>'}`,
      ...(frame.context_line === null ? [] : [`    ${frame.context_line.trim()}`]),
    ]),
    head,
  ].join('\n')

const writeNative: Writer = (head, frames) =>
  [
    head,
    ...(frames ?? []).toReversed().map((frame, index) => {
      const place =
        frame.filename === null ? '' : ` (${[frame.filename, frame.lineno].filter((part) => part !== null).join(':')})`
      const library = frame.package?.split(/[\\/]/u).at(-1) ?? ''
      return `${String(index).padEnd(4)}${library.padEnd(24)} ${frame.instruction_addr ?? ''} ${frame.function ?? '<unknown>'}${place}`
    }),
  ].join('\n')

const WRITERS: Readonly<Record<string, Writer>> = {
  java: writeJvm,
  kotlin: writeJvm,
  python: writePython,
  native: writeNative,
  cocoa: writeNative,
}
