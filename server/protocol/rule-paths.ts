import { compileGlob, type Glob } from '../kernel/glob.ts'
import { EXEMPT } from './scrub-words.ts'

/** Which values the rules of a project name: paths become one automaton, walked along with the payload. */

/** A name in a path: `**`, a glob, or the name itself (lower case). */
type Segment = { readonly deep: boolean; readonly literal: string | null; readonly matches: Glob }

/** Where the rules stand after some names; `0` is nowhere: nothing below can be meant. */
export type RuleState = number
export const NOWHERE: RuleState = 0

const MAX_REMEMBERED_STEPS = 20_000
const MAX_STATES = 5_000

/** Keys whose values make the event what it is. No rule touches them, named or not. */
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
  /** Of each state: where a key leads. */
  #steps: Map<string, RuleState>[] = []
  #remembered = 0

  constructor(paths: readonly string[]) {
    this.#segments = paths.map((path) => path.toLowerCase().split('.').map(segmentOf))
  }

  /** Where a payload begins. States known so far stay valid until the next call. */
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

  /** Rules that cover the value here, in their order. */
  rulesAt(state: RuleState): readonly number[] {
    return this.#states[state]?.rules ?? []
  }

  /** One key further down. A key with dots in it (`client.address`) counts as the names between them. */
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

  /** Where either of two leads. */
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
      // The whole path is behind us: what is below is meant, too.
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

  /** A place, and what stands behind `**` there, which may also be no name at all. */
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
