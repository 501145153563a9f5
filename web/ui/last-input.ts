type Input = 'key' | 'pointer'

let last: Input = 'pointer'

if (typeof document !== 'undefined') {
  document.addEventListener('keydown', () => (last = 'key'), true)
  document.addEventListener('pointerdown', () => (last = 'pointer'), true)
}

/** What was used last: a key, or a pointer. */
export const lastInput = (): Input => last
