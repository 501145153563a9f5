type Input = 'key' | 'pointer'

let last: Input = 'pointer'

if (typeof document !== 'undefined') {
  document.addEventListener('keydown', () => (last = 'key'), true)
  document.addEventListener('pointerdown', () => (last = 'pointer'), true)
}

/** The last input device: keyboard or pointer. */
export const lastInput = (): Input => last
