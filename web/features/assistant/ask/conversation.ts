import { useSyncExternalStore } from 'react'
import { ApiError } from '../../../api/call.ts'
import { streamAnswer, type AnswerSource, type AskBody } from '../../../api/ask-stream.ts'
import { errorSentence } from '../../../api/change.ts'
import { onSessionEnd } from '../../../api/session.ts'
import { fitting, withoutMarks } from './model.ts'
import { askTexts } from './texts.ts'

/** The conversation of this tab. Fragments of an answer are shown once per frame, however many arrive. */

type Place = Pick<AskBody, 'project_id' | 'about'>

export type Exchange = {
  readonly id: number
  readonly question: string
  readonly place: Place
  readonly text: string
  /** The text of an answer that broke off, while its repetition is shorter and the same. */
  readonly kept: string
  readonly sources: readonly AnswerSource[]
  /** cut: the connection broke off. failed: the server refused, or said that the answer breaks off. */
  readonly state: 'running' | 'done' | 'stopped' | 'cut' | 'failed'
  readonly error: string | null
}

const KEY = 'faultline.ask'
const MAX_STORED = 300_000
const MAX_EXCHANGES = 40
const MAX_ANSWER = 200_000
const MAX_SOURCES = 50

let owner: string | null = null
let exchanges: readonly Exchange[] = []
let running: AbortController | null = null
const listeners = new Set<() => void>()

function show(next: readonly Exchange[]): void {
  exchanges = next
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** @param of the member and organisation; the conversation of another is forgotten */
export const useConversation = (of: string | null): readonly Exchange[] =>
  useSyncExternalStore(subscribe, () => conversationOf(of))

function conversationOf(of: string | null): readonly Exchange[] {
  if (of !== null && of !== owner) {
    running?.abort()
    owner = of
    exchanges = readStored(of)
  }
  return exchanges
}

/** Asks, and waits for the end of the answer. */
export function ask(question: string, place: Place): Promise<void> {
  const id = (exchanges.at(-1)?.id ?? 0) + 1
  const fresh: Exchange = { id, question, place, text: '', kept: '', sources: [], state: 'running', error: null }
  return answer([...exchanges, fresh].slice(-MAX_EXCHANGES))
}

/** Asks the last question again. Its text stays until the new answer says something else. */
export function askAgain(): Promise<void> {
  const last = exchanges.at(-1)
  if (last === undefined || running !== null) return Promise.resolve()
  const again: Exchange = { ...last, text: '', kept: shownText(last), state: 'running', error: null }
  return answer([...exchanges.slice(0, -1), again])
}

export const shownText = ({ text, kept }: Exchange): string => (kept.startsWith(text) ? kept : text)

export function stopAnswer(): void {
  running?.abort()
}

export function startNew(): void {
  running?.abort()
  show([])
  store()
}

async function answer(next: readonly Exchange[]): Promise<void> {
  const current = next.at(-1)
  if (current === undefined) return
  running?.abort()
  const control = new AbortController()
  running = control
  show(next)
  // As it arrived; frames show it.
  let text = ''
  let sources: readonly AnswerSource[] = []
  let error: string | null = null
  let frame = 0
  const change = (end: Partial<Exchange> = {}) => {
    cancelAnimationFrame(frame)
    frame = 0
    show(exchanges.map((one) => (one.id === current.id ? { ...one, text, sources, error, ...end } : one)))
  }
  const end = (given: Partial<Exchange>) => {
    if (running === control) running = null
    // A new conversation was started meanwhile.
    if (!exchanges.some(({ id, state }) => id === current.id && state === 'running')) return
    change(given)
    store()
  }
  try {
    const messages = fitting([
      ...next.slice(0, -1).flatMap(({ question, text: answered }) =>
        answered === ''
          ? []
          : [
              { role: 'user' as const, content: question },
              { role: 'assistant' as const, content: withoutMarks(answered) },
            ],
      ),
      { role: 'user', content: current.question },
    ])
    const isWhole = await streamAnswer({ messages, ...current.place }, control.signal, (event) => {
      if ('delta' in event) text += event.delta
      else if ('source' in event) sources = [...sources, event.source].slice(0, MAX_SOURCES)
      else error = event.error
      if (text.length > MAX_ANSWER) control.abort()
      if (frame === 0) frame = requestAnimationFrame(() => change())
    })
    const state = control.signal.aborted ? 'stopped' : error !== null ? 'failed' : isWhole ? 'done' : 'cut'
    end({ state, kept: state === 'done' ? '' : current.kept })
  } catch (refusal) {
    if (control.signal.aborted) end({ state: 'stopped' })
    else if (refusal instanceof ApiError && refusal.status === 0) end({ state: 'cut' })
    else end({ state: 'failed', error: errorSentence(refusal) })
  }
}

function store(): void {
  for (let from = 0; ; from++) {
    const kept = exchanges.filter(({ state }) => state !== 'running').slice(from)
    const text = JSON.stringify({ owner, exchanges: kept })
    if (text.length > MAX_STORED && kept.length > 0) continue
    try {
      if (kept.length === 0) sessionStorage.removeItem(KEY)
      else sessionStorage.setItem(KEY, text)
    } catch {
      // Without storage, the conversation lasts until the page is loaded again.
    }
    return
  }
}

/** The stored conversation of the owner; an answer under way broke off with the page. */
function readStored(of: string): readonly Exchange[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? 'null')
    if (isStored(stored) && stored.owner === of) return stored.exchanges
    sessionStorage.removeItem(KEY)
  } catch {
    // The conversation begins empty.
  }
  return []
}

/** Only `store` writes it, in the same tab. */
const isStored = (stored: unknown): stored is { owner: string; exchanges: readonly Exchange[] } =>
  typeof stored === 'object' && stored !== null && 'owner' in stored && 'exchanges' in stored

onSessionEnd(() => {
  startNew()
  owner = null
})

/** The answer for screen readers: empty until it has ended. */
export const announced = (last: Exchange | undefined): string =>
  last === undefined || last.state === 'running'
    ? ''
    : [
        withoutMarks(last.text).replaceAll(/[*`|]/g, ''),
        last.state === 'done' ? '' : (last.error ?? askTexts.ends[last.state]),
      ].join(' ')
