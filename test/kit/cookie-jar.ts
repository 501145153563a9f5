import type { Cookies } from '#server/platform/context/handlers.ts'

/** The cookies of one browser, for operations that take them. */
export type CookieJar = Cookies & {
  /** As the `Cookie` header. */
  header(): string
}

export function cookieJar(): CookieJar {
  const kept = new Map<string, string>()
  return {
    get: (name) => kept.get(name) ?? null,
    set: (name, value) => void kept.set(name, value),
    clear: (name) => void kept.delete(name),
    header: () => [...kept].map(([name, value]) => `${name}=${value}`).join('; '),
  }
}
