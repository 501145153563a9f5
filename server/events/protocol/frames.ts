import type { Frame, Stacktrace } from './event.api.ts'
import { addressField, booleanField, numberField, textField } from './fields.ts'
import { imageAt, type ImageRange } from './images.ts'
import { isInApp } from './in-app.ts'
import { isRuntimeFrame } from './runtime-frames.ts'
import { cleanRecord, isList, isRecord, isSafeKey, type JsonBudget } from './json.ts'
import type { Notes } from './notes.ts'
import { tidy } from './strings.ts'

/** Stack traces and their frames. Order is kept: outermost call first. */

const MAX_FRAMES = 250
/** Outermost frames that are kept of a longer stack; the others are the innermost. */
const KEPT_OUTERMOST = 50
const MAX_CONTEXT_LINES = 20
const MAX_LINE = 1_024
const MAX_REGISTERS = 128

/** The setting that frames need from their event. */
export type FrameSetting = {
  platform: string
  images: readonly ImageRange[]
  /** The images that `addr_mode: rel:<index>` refers to. */
  imageFiles: readonly (string | null)[]
  variables: JsonBudget
  /** False leaves out lines around frames, variables and registers. */
  withDetail: boolean
  notes: Notes
}

/** A stack trace; null without frames. */
export function readStacktrace(raw: unknown, setting: FrameSetting, name: string): Stacktrace | null {
  if (raw === null || raw === undefined) return null
  const list = isRecord(raw) ? raw['frames'] : raw
  if (list === null || list === undefined) return null
  if (!isList(list)) {
    setting.notes.add(name, 'Expected a list of frames.')
    return null
  }
  const kept =
    list.length > MAX_FRAMES ? [...list.slice(0, KEPT_OUTERMOST), ...list.slice(KEPT_OUTERMOST - MAX_FRAMES)] : list
  if (kept !== list) setting.notes.add(name, `${list.length} frames; ${MAX_FRAMES} are kept.`)
  const frames: Frame[] = []
  for (const element of kept) {
    if (isRecord(element)) frames.push(readFrame(element, setting))
    else if (element !== null) setting.notes.add(name, 'A frame is no object.')
  }
  if (frames.length === 0) return null
  const registers = isRecord(raw) && setting.withDetail ? readRegisters(raw['registers'], setting.notes) : null
  return { frames, registers }
}

function readFrame(raw: Record<string, unknown>, setting: FrameSetting): Frame {
  const notes = setting.notes
  const ownPlatform = textField(raw['platform'], 64, notes, 'frame.platform')
  const instructionAddr = addressField(raw['instruction_addr'], notes, 'frame.instruction_addr')
  const frame: Frame = {
    filename: textField(raw['filename'], 1_024, notes, 'frame.filename'),
    abs_path: textField(raw['abs_path'], 2_048, notes, 'frame.abs_path'),
    function: textField(raw['function'], 1_024, notes, 'frame.function'),
    raw_function: textField(raw['raw_function'], 1_024, notes, 'frame.raw_function'),
    module: textField(raw['module'], 1_024, notes, 'frame.module'),
    package: textField(raw['package'], 1_024, notes, 'frame.package'),
    platform: ownPlatform,
    lineno: lineNumber(raw['lineno'], notes, 'frame.lineno'),
    colno: lineNumber(raw['colno'], notes, 'frame.colno'),
    in_app: true,
    context_line: contextLine(raw['context_line'], notes),
    pre_context: setting.withDetail ? contextLines(raw['pre_context'], notes, 'frame.pre_context') : NO_LINES,
    post_context: setting.withDetail ? contextLines(raw['post_context'], notes, 'frame.post_context') : NO_LINES,
    vars: raw['vars'] === undefined || !setting.withDetail ? null : readVars(raw['vars'], setting),
    instruction_addr: instructionAddr,
    symbol_addr: addressField(raw['symbol_addr'], notes, 'frame.symbol_addr'),
    image_addr: addressField(raw['image_addr'], notes, 'frame.image_addr'),
  }
  if (instructionAddr !== null) placeInImage(frame, instructionAddr, raw['addr_mode'], setting)
  const inApp = raw['in_app']
  const platform = ownPlatform ?? setting.platform
  frame.in_app =
    typeof inApp === 'boolean' ? inApp : (booleanField(inApp, notes, 'frame.in_app') ?? isInApp(frame, platform))
  if (frame.in_app && isRuntimeFrame(frame, platform)) {
    frame.in_app = false
    frame.marked_in_app = true
  }
  return frame
}

/** Sets package and image address of a native frame from the image of its address. */
function placeInImage(frame: Frame, address: string, addrMode: unknown, setting: FrameSetting): void {
  if (frame.package !== null && frame.image_addr !== null) return
  if (typeof addrMode === 'string' && addrMode.startsWith('rel:')) {
    const index = Number(addrMode.slice(4))
    frame.package ??= setting.imageFiles[index] ?? null
    return
  }
  const image = imageAt(setting.images, address)
  if (image === null) return
  frame.package ??= image.package
  frame.image_addr ??= image.imageAddr
}

function lineNumber(value: unknown, notes: Notes, name: string): number | null {
  if (value === undefined || value === null || value === 0) return null
  const number = numberField(value, notes, name)
  return number === null || number < 0 ? null : Math.trunc(number)
}

function contextLine(value: unknown, notes: Notes): string | null {
  if (typeof value === 'string') return tidy(value, MAX_LINE)
  return textField(value, MAX_LINE, notes, 'frame.context_line')
}

const NO_LINES: string[] = []

function contextLines(value: unknown, notes: Notes, name: string): string[] {
  if (value === undefined || value === null) return NO_LINES
  if (!isList(value)) {
    notes.add(name, 'Expected a list of lines.')
    return NO_LINES
  }
  const lines: string[] = []
  for (const line of value.length > MAX_CONTEXT_LINES ? value.slice(0, MAX_CONTEXT_LINES) : value) {
    lines.push(typeof line === 'string' ? tidy(line, MAX_LINE) : (textField(line, MAX_LINE, notes, name) ?? ''))
  }
  return lines
}

/** Variables by name; for a list, as PHP and old clients send it, by index. */
function readVars(value: unknown, setting: FrameSetting): Frame['vars'] {
  const named = isList(value) ? Object.fromEntries(value.slice(0, 100).entries()) : value
  return cleanRecord(named, setting.variables, setting.notes, 'frame.vars')
}

function readRegisters(value: unknown, notes: Notes): Record<string, string> | null {
  if (value === undefined || value === null) return null
  if (!isRecord(value)) {
    notes.add('stacktrace.registers', 'Expected an object.')
    return null
  }
  const registers: Record<string, string> = {}
  let count = 0
  for (const [name, address] of Object.entries(value)) {
    if (count === MAX_REGISTERS) break
    const text = textField(address, 64, notes, 'stacktrace.registers')
    const key = tidy(name, 32)
    if (text === null || !isSafeKey(key)) continue
    registers[key] = text
    count += 1
  }
  return count === 0 ? null : registers
}
