import { perApp, type App } from '../context/app.ts'

/** Open streams of this process: shares, so that no session, API key or organisation can take the connections of the others. */
export const MAX_STREAMS = { session: 20, org: 200, all: 2_000 } as const

export type OpenStream = {
  /** Id of the session or API key. */
  readonly holder: string
  readonly orgId: string
  /** When the last message was sent, or it was opened. */
  usedAtMs: number
  end(): void
}

const registries = perApp(() => new Set<OpenStream>())

/**
 * Registers a stream. Where its session or key, its organisation or the process has too many, the one that was idle longest ends;
 * of all of them, one of the organisation with the most.
 * @returns a function that removes it
 */
export function registerStream(app: App, stream: OpenStream): () => void {
  const streams = registries(app)
  const ofSession = [...streams].filter(({ holder }) => holder === stream.holder)
  if (ofSession.length >= MAX_STREAMS.session) endIdlest(streams, ofSession)
  const ofOrg = [...streams].filter(({ orgId }) => orgId === stream.orgId)
  if (ofOrg.length >= MAX_STREAMS.org) endIdlest(streams, ofOrg)
  if (streams.size >= MAX_STREAMS.all) endIdlest(streams, largestShare(streams))
  streams.add(stream)
  return () => void streams.delete(stream)
}

function endIdlest(streams: Set<OpenStream>, candidates: readonly OpenStream[]): void {
  const idlest = candidates.reduce((idle, one) => (one.usedAtMs < idle.usedAtMs ? one : idle))
  streams.delete(idlest)
  idlest.end()
}

function largestShare(streams: Iterable<OpenStream>): OpenStream[] {
  const byOrg = [...Map.groupBy(streams, ({ orgId }) => orgId).values()]
  return byOrg.reduce((largest, one) => (one.length > largest.length ? one : largest))
}
