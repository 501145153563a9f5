import { useEffect, useRef } from 'react'

/** Throttles: runs the work immediately, then at most once per step, and once more at the end of the step. */
export function useThrottled(stepMs: number, work: () => Promise<unknown>): () => void {
  const newest = useRef(work)
  const state = useRef<{ timer: ReturnType<typeof setTimeout> | undefined; owed: boolean }>({
    timer: undefined,
    owed: false,
  })
  useEffect(() => {
    newest.current = work
  })
  useEffect(() => {
    const held = state.current
    return () => {
      clearTimeout(held.timer)
      held.timer = undefined
      held.owed = false
    }
  }, [])
  const start = () => {
    state.current.owed = false
    state.current.timer = setTimeout(() => {
      state.current.timer = undefined
      if (state.current.owed) start()
    }, stepMs)
    void newest.current()
  }
  return () => {
    if (state.current.timer === undefined) start()
    else state.current.owed = true
  }
}
