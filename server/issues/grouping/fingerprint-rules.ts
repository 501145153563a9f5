import { compileGlob, type Glob } from '../../platform/kernel/glob.ts'
import type { Event, Exception, Frame } from '../../events/protocol/event.api.ts'
import { functionName, leadingStack, topFrame } from '../../events/protocol/labels.ts'
import { FRAME_MATCHERS, VARIABLE, type FingerprintRule } from './grouping-rules.api.ts'
import { frameQuestion } from './frame-rules.ts'
import { parameterise } from './v2-words.ts'

/** Fingerprint rules: a project decides which events are one issue. */

/** The result of the first rule that matches. */
export type RuleAnswer = {
  readonly rule: FingerprintRule
  /** Null stands for the fingerprint without rules. */
  readonly elements: readonly (string | null)[]
  /** The title; null keeps the usual one. */
  readonly title: string | null
}

type RuleBook = (event: Event) => RuleAnswer | null

/** Maximum innermost frames that rules are applied to, which bounds the cost of an event. */
const MAX_FRAMES = 200
const MAX_VALUE_CHARACTERS = 200

type Question = (event: Event, frames: readonly Frame[]) => boolean

/** Returns null when there are no rules. */
export function compileFingerprintRules(rules: readonly FingerprintRule[]): RuleBook | null {
  if (rules.length === 0) return null
  const compiled = rules.map((rule) => ({ rule, questions: questionsOf(rule) }))
  return (event) => {
    const frames = framesOf(event)
    const found = compiled.find(({ questions }) => questions.every((asks) => asks(event, frames)))
    return found === undefined ? null : answerOf(found.rule, event)
  }
}

function framesOf(event: Event): readonly Frame[] {
  const frames = event.exceptions.flatMap(({ stacktrace }) => stacktrace?.frames ?? [])
  const all = frames.length > 0 ? frames : (leadingStack(event.exceptions, event.threads)?.frames ?? [])
  return all.length > MAX_FRAMES ? all.slice(-MAX_FRAMES) : all
}

const isFrameKey = (key: string): boolean => FRAME_MATCHERS.some((known) => known === key)

/** All matchers of a frame must match one frame, and all of an error one exception; negated ones must match none. */
function questionsOf({ match }: FingerprintRule): Question[] {
  const ofFrames = match.filter(({ key }) => isFrameKey(key))
  const ofErrors = match.filter(({ key }) => key === 'type' || key === 'value')
  const others = match.filter(({ key }) => !isFrameKey(key) && key !== 'type' && key !== 'value')
  const wantedFrame = ofFrames.filter(({ not }) => !not).map(({ key, glob }) => frameQuestion(key, glob))
  const wantedError = ofErrors.filter(({ not }) => !not).map(({ key, glob }) => errorQuestion(key, glob))
  return [
    ...others.map(({ key, glob, not }): Question => {
      const matches = compileGlob(glob)
      return (event) => textsOf(event, key).some((text) => text !== null && matches(text)) !== not
    }),
    ...(wantedError.length === 0
      ? []
      : [(event: Event) => event.exceptions.some((one) => wantedError.every((asks) => asks(one)))]),
    ...ofErrors
      .filter(({ not }) => not)
      .map(({ key, glob }): Question => {
        const asks = errorQuestion(key, glob)
        return (event) => !event.exceptions.some(asks)
      }),
    ...(wantedFrame.length === 0
      ? []
      : [
          (_event: Event, frames: readonly Frame[]) => frames.some((frame) => wantedFrame.every((asks) => asks(frame))),
        ]),
    ...ofFrames
      .filter(({ not }) => not)
      .map(({ key, glob }): Question => {
        const asks = frameQuestion(key, glob)
        return (_event, frames) => !frames.some(asks)
      }),
  ]
}

function errorQuestion(key: string, glob: string): (exception: Exception) => boolean {
  const matches: Glob = compileGlob(glob)
  return ({ type, value }) => {
    const text = key === 'type' ? type : value
    return text !== null && matches(text)
  }
}

function textsOf(event: Event, key: string): readonly (string | null)[] {
  switch (key) {
    case 'message':
      return [event.message, event.message_template]
    case 'level':
      return [event.level]
    case 'release':
      return [event.release]
    default: {
      const name = key.slice('tag.'.length)
      return event.tags.filter((tag) => tag.key === name).map((tag) => tag.value)
    }
  }
}

function answerOf(rule: FingerprintRule, event: Event): RuleAnswer {
  const elements = rule.fingerprint.map((element) =>
    /^\s*\{\{\s*default\s*\}\}\s*$/.test(element)
      ? null
      : element.replaceAll(VARIABLE, (_, name: string) => variable(event, name, true)),
  )
  const title = rule.title?.replaceAll(VARIABLE, (_, name: string) => variable(event, name, false)).trim() ?? ''
  return { rule, elements, title: title === '' ? null : short(title) }
}

/** For a fingerprint, without parts that change with each event; for a title, as sent. */
function variable(event: Event, name: string, meets: boolean): string {
  const value = valueOf(event, name)
  if (value === null || value === '') return `<no ${name}>`
  const text = meets && (name === 'value' || name === 'message') ? parameterise(value) : value
  return short(text)
}

/** Also cuts off half a surrogate pair at the end. */
const short = (text: string): string =>
  text.length > MAX_VALUE_CHARACTERS ? text.slice(0, MAX_VALUE_CHARACTERS).replace(/[\ud800-\udbff]$/, '') : text

function valueOf(event: Event, name: string): string | null {
  switch (name) {
    case 'type':
      return event.error_type ?? event.type
    case 'value':
      return event.error_value
    case 'message':
      return event.message_template ?? event.message
    case 'module':
      return placeFrame(event)?.module ?? null
    case 'function':
      return functionName(placeFrame(event)) ?? null
    case 'transaction':
    case 'level':
    case 'release':
    case 'environment':
    case 'platform':
    case 'logger':
      return event[name]
    default:
      return event.tags.find(({ key }) => `tag.${key}` === name)?.value ?? null
  }
}

function placeFrame(event: Event): Frame | null {
  const stack = leadingStack(event.exceptions, event.threads)
  return stack === null ? null : topFrame(stack, event.platform, event.level)
}
