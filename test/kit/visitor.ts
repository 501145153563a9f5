/** A browser that follows no redirects by itself and keeps cookies by origin. */
export type Visitor = {
  /** A navigation from the address bar, or a call of our own page. */
  go(url: string, init?: RequestInit): Promise<Visit>
  cookie(origin: string, name: string): string | undefined
}

export type Visit = {
  readonly status: number
  readonly location: string
  readonly body: string
  readonly cookies: string[]
}

export function visitor(): Visitor {
  const jars = new Map<string, Map<string, string>>()
  const jarOf = (origin: string): Map<string, string> => {
    const jar = jars.get(origin) ?? new Map<string, string>()
    jars.set(origin, jar)
    return jar
  }
  return {
    cookie: (origin, name) => jarOf(origin).get(name),
    async go(url, init = {}) {
      const { origin } = new URL(url)
      const jar = jarOf(origin)
      const response = await fetch(url, {
        ...init,
        redirect: 'manual',
        headers: {
          ...(jar.size === 0 ? {} : { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') }),
          ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...Object.fromEntries(new Headers(init.headers)),
        },
      })
      const cookies = response.headers.getSetCookie()
      for (const line of cookies) {
        const [pair = '', ...attributes] = line.split('; ')
        const name = pair.slice(0, pair.indexOf('='))
        const isOver = attributes.some((attribute) => /^(max-age=0|expires=thu, 01 jan 1970.*)$/i.test(attribute))
        if (isOver) jar.delete(name)
        else jar.set(name, pair.slice(name.length + 1))
      }
      return {
        status: response.status,
        location: response.headers.get('location') ?? '',
        body: await response.text(),
        cookies,
      }
    },
  }
}
