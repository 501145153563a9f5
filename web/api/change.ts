import { useMutation, useQueryClient, type QueryClient, type QueryKey } from '@tanstack/react-query'
import { useRef } from 'react'
import { addToast } from '../ui/toasts.tsx'
import { apiTexts } from './texts.ts'
import { ApiError } from './call.ts'

/** A change of state, applied at once and taken back when the server refuses. */
export type Change<Input, Answer> = {
  send: (input: Input) => Promise<Answer>
  /**
   * What tells inputs apart. The same again while it is under way is a double press and counts once: its Undo would
   * have nothing to take back.
   */
  same?: (input: Input) => string
  /** Everything the change can alter: remembered before, read again after. */
  touches: (input: Input) => readonly QueryKey[]
  /** Writes the expected result into the cache. */
  guess?: (client: QueryClient, input: Input) => void
  /** Takes the guess back in its own way; without it everything touched is as it was before, whatever came since. */
  restore?: (client: QueryClient, remembered: Memory, input: Input) => void
  /** Puts the server's answer in place of the guess, where it says more. */
  settle?: (client: QueryClient, answer: Answer, input: Input) => void
  /** What the toast says; none when the page itself shows it. */
  said?: (answer: Answer, input: Input) => string
  /** The call that undoes it; with it the toast offers Undo (`Z`) for as long as it stands. */
  undo?: (input: Input, answer: Answer, client: QueryClient) => Promise<unknown>
  /** What could not be done, for the toast of a failure: "Could not resolve." Null when the page says it itself. */
  failed: string | null
}

export type Memory = readonly (readonly [QueryKey, unknown])[]

const remember = (client: QueryClient, keys: readonly QueryKey[]): Memory =>
  keys.flatMap((queryKey) => client.getQueriesData({ queryKey }))

function restoreAll(client: QueryClient, memory: Memory): void {
  for (const [key, data] of memory) client.setQueryData(key, data)
}

const readAgain = (client: QueryClient, keys: readonly QueryKey[]): Promise<unknown> =>
  Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })))

/** What came back, in the server's words. */
export const reasonOf = (error: unknown): string => (error instanceof ApiError ? error.message : apiTexts.unexpected)

/**
 * The one mutation hook. `mutate(input)` applies the guess, sends, and shows the toast with Undo; a refusal rolls back
 * and says what came back.
 */
export function useChange<Input, Answer>(change: Change<Input, Answer>) {
  const client = useQueryClient()
  const underWay = useRef<string | undefined>(undefined)
  const restore = (memory: Memory, input: Input) =>
    change.restore === undefined ? restoreAll(client, memory) : change.restore(client, memory, input)
  const mutation = useMutation<Answer, Error, Input, Memory>({
    mutationFn: change.send,
    onMutate: async (input) => {
      const keys = change.touches(input)
      // A read under way would overwrite the guess with what was before it.
      if (change.guess !== undefined) await Promise.all(keys.map((queryKey) => client.cancelQueries({ queryKey })))
      const memory = remember(client, keys)
      change.guess?.(client, input)
      return memory
    },
    onError: (error, input, memory) => {
      if (memory !== undefined) restore(memory, input)
      if (change.failed !== null) addToast({ text: `${change.failed} ${reasonOf(error)}`, tone: 'bad' })
    },
    onSuccess: (answer, input, memory) => {
      change.settle?.(client, answer, input)
      if (change.said === undefined) return
      const { undo } = change
      const takeBack = async () => {
        restore(memory, input)
        try {
          await undo?.(input, answer, client)
        } catch (error) {
          // It is as the change left it.
          change.guess?.(client, input)
          addToast({ text: `${apiTexts.notUndone} ${reasonOf(error)}`, tone: 'bad' })
        }
        await readAgain(client, change.touches(input))
      }
      addToast({
        text: change.said(answer, input),
        tone: 'good',
        ...(undo === undefined ? {} : { action: { label: apiTexts.undo, keys: 'z', run: () => void takeBack() } }),
      })
    },
    onSettled: (_answer, _error, input) => {
      if (underWay.current === change.same?.(input)) underWay.current = undefined
      return readAgain(client, change.touches(input))
    },
  })
  const mutate: typeof mutation.mutate = (...args) => {
    const key = args[0] === undefined ? undefined : change.same?.(args[0])
    if (key !== undefined && underWay.current === key) return
    underWay.current = key
    mutation.mutate(...args)
  }
  return { ...mutation, mutate }
}
