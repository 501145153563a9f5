import { useSyncExternalStore } from 'react'
import { ApiError, call, type AnswerOf } from './call.ts'

/** Bulk operations that continue in the background. */

export type Operation = AnswerOf<'GET /api/issues/operations/:operationId'>

const POLL_MS = 700

let running: readonly Operation[] = []
const listeners = new Set<() => void>()

function show(next: readonly Operation[]): void {
  running = next
  for (const listener of listeners) listener()
}

/** Operations this page waits for. Small ones are complete with the first response and never appear here. */
export const useRunningOperations = (): readonly Operation[] =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => running,
  )

/** Waits for the end of an operation and publishes its progress. Network errors are retried. */
export async function finished(start: Promise<Operation>): Promise<Operation> {
  let operation = await start
  const { id } = operation
  try {
    while (operation.state === 'running') {
      const now = operation
      show([...running.filter((other) => other.id !== id), now])
      await new Promise((done) => setTimeout(done, POLL_MS))
      operation = await call('GET /api/issues/operations/:operationId', { params: { operationId: id } }).catch(
        (error: unknown) => {
          if (error instanceof ApiError && (error.status === 0 || error.status >= 500)) return now
          throw error
        },
      )
    }
  } finally {
    if (running.some((other) => other.id === id)) show(running.filter((other) => other.id !== id))
  }
  return operation
}

/** The issues that could not be changed, with reasons; at most 100. */
export async function readRefusals(operation: Operation): Promise<{ issueId: string; reason: string }[]> {
  if (operation.failed === 0) return []
  const { results } = await call('GET /api/issues/operations/:operationId', {
    params: { operationId: operation.id },
    query: { result: 'failed', limit: '100' },
  })
  return results.map(({ issue_id, error }) => ({ issueId: issue_id, reason: error ?? '' }))
}

export const undo = (operationId: string): Promise<Operation> =>
  finished(call('POST /api/issues/operations/:operationId/undo', { params: { operationId } }))
