const SIGNS: Readonly<Record<string, string>> = {
  enter: '↵',
  escape: 'Esc',
  arrowup: '↑',
  arrowdown: '↓',
  shift: 'Shift',
}

/** Whether this machine writes ⌘ where others write Ctrl. */
export const isApple = (): boolean => typeof navigator !== 'undefined' && /mac|iphone|ipad/i.test(navigator.userAgent)

/** The caps of a chord as written in the registry: `mod+k` → Ctrl, K; `g i` → G, I. */
export function capsOf(keys: string, apple = isApple()): string[] {
  return keys
    .split(' ')
    .flatMap((chord) => chord.split('+'))
    .map((cap) =>
      cap === 'mod' ? (apple ? '⌘' : 'Ctrl') : (SIGNS[cap] ?? (cap.length === 1 ? cap.toUpperCase() : cap)),
    )
}

/** A key, or a chord, as drawn on buttons. Decoration: the registry's sheet says it in words. */
export function Kbd({ keys }: { keys: string }) {
  const caps = capsOf(keys)
  if (caps.length === 1) return <kbd aria-hidden="true">{caps[0]}</kbd>
  return (
    <span className="keys" aria-hidden="true">
      {caps.map((cap) => (
        <kbd key={cap}>{cap}</kbd>
      ))}
    </span>
  )
}
