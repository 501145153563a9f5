import { compileGlob, type Glob } from '../../platform/kernel/glob.ts'
import { EXEMPT } from './scrub-words.ts'

/** Paths of scrubbing rules, compiled to one automaton that follows a walk through the payload. */

/** A name in a path: `**`, a glob, or the name itself (lower case). */
type Segment = { readonly deep: boolean; readonly literal: string | null; readonly matches: Glob }

/** A state of the automaton; in state 0 no rule can match anything below. */
export type RuleState = number
export const NOWHERE: RuleState = 0

const MAX_REMEMBERED_STEPS = 20_000
const MAX_STATES = 5_000

/** Keys that an event needs. No rule changes their values. */
const UNTOUCHABLE = new Set([
  'event_id',
  'trace_id',
  'span_id',
  'parent_span_id',
  'timestamp',
  'start_timestamp',
  'platform',
  'level',
  'debug_meta',
  '_meta',
  'sdk',
  'instruction_addr',
  'in_app',
])

export class RulePaths {
  readonly #segments: readonly (readonly Segment[])[]
  #states: { readonly places: readonly number[]; readonly rules: readonly number[] }[] = []
  #ids = new Map<string, RuleState>()
  /** For each state, the next state by key. */
  #steps: Map<string, RuleState>[] = []
  #remembered = 0

  constructor(paths: readonly string[]) {
    this.#segments = paths.map((path) => path.toLowerCase().split('.').map(segmentOf))
  }

  /** The initial state of a payload. States stay valid until the next call. */
  start(): RuleState {
    if (this.#states.length === 0 || this.#states.length > MAX_STATES) {
      this.#states = []
      this.#ids = new Map()
      this.#steps = []
      this.#remembered = 0
      this.#idOf(new Set())
    }
    return this.#idOf(new Set(this.#segments.flatMap((_, rule) => this.#entering(rule, 0))))
  }

  /** The rules for the value in this state, in their order. */
  rulesAt(state: RuleState): readonly number[] {
    return this.#states[state]?.rules ?? []
  }

  /** The state after a key. A key with dots (`client.address`) counts as several names. */
  step(state: RuleState, key: string): RuleState {
    if (state === NOWHERE) return NOWHERE
    const known = this.#steps[state]?.get(key)
    if (known !== undefined) return known
    const next = this.#judge(state, key.toLowerCase())
    if (this.#remembered >= MAX_REMEMBERED_STEPS) {
      this.#steps = []
      this.#remembered = 0
    }
    if (key.length > 100) return next
    const steps = (this.#steps[state] ??= new Map<string, RuleState>())
    steps.set(key, next)
    this.#remembered++
    return next
  }

  /** The union of two states. */
  both(a: RuleState, b: RuleState): RuleState {
    if (a === b || b === NOWHERE) return a
    if (a === NOWHERE) return b
    return this.#idOf(new Set([...(this.#states[a]?.places ?? []), ...(this.#states[b]?.places ?? [])]))
  }

  #judge(state: RuleState, key: string): RuleState {
    if (UNTOUCHABLE.has(key)) return NOWHERE
    const onlyNamed = EXEMPT.has(key) || key === 'type'
    let next = state
    for (const name of key.split('.', 32)) next = this.#idOf(this.#follow(next, name, onlyNamed))
    return next
  }

  #follow(state: RuleState, name: string, onlyNamed: boolean): Set<number> {
    const places = new Set<number>()
    for (const place of this.#states[state]?.places ?? []) {
      const [rule, at] = [Math.floor(place / 64), place % 64]
      const segment = this.#segments[rule]?.[at]
      // The end of the path is reached, so values below match as well.
      if (segment === undefined) {
        if (!onlyNamed) places.add(place)
        continue
      }
      if (segment.deep) {
        if (!onlyNamed) for (const stays of this.#entering(rule, at)) places.add(stays)
        continue
      }
      if (segment.literal === null ? !onlyNamed && segment.matches(name) : segment.literal === name)
        for (const entered of this.#entering(rule, at + 1)) places.add(entered)
    }
    return places
  }

  /** Adds a position, and the one after a `**`, which also matches no name. */
  #entering(rule: number, at: number): number[] {
    const places = [rule * 64 + at]
    for (let next = at; this.#segments[rule]?.[next]?.deep === true; next++) places.push(rule * 64 + next + 1)
    return places
  }

  #idOf(set: ReadonlySet<number>): RuleState {
    const places = [...set].sort((a, b) => a - b)
    const name = places.join(',')
    const known = this.#ids.get(name)
    if (known !== undefined) return known
    const id = this.#states.length
    const done = places.filter((place) => this.#segments[Math.floor(place / 64)]?.[place % 64] === undefined)
    this.#states.push({ places, rules: [...new Set(done.map((place) => Math.floor(place / 64)))] })
    this.#ids.set(name, id)
    return id
  }
}

function segmentOf(text: string): Segment {
  const deep = text === '**'
  return { deep, literal: text.includes('*') ? null : text, matches: compileGlob(text) }
}
