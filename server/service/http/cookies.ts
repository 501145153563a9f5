import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../config.ts'
import type { Cookies } from '../../platform/context/handlers.ts'

/**
 * Cookies of one call. PUBLIC_URL decides about `Secure`, never a header. The prefix `__Host-` requires the path `/`.
 */
export function callCookies(config: Config, request: FastifyRequest, reply: FastifyReply): Cookies {
  const secure = config.publicUrl.startsWith('https:')
  const pathOf = (path: string) => (config.cookiePrefix === '' ? path : '/')
  return {
    get: (name) => request.cookies[config.cookiePrefix + name] ?? null,
    set(name, value, options) {
      void reply.setCookie(config.cookiePrefix + name, value, {
        httpOnly: true,
        secure,
        sameSite: options.sameSite,
        path: pathOf(options.path),
        maxAge: options.maxAgeSeconds,
      })
    },
    clear(name, path) {
      void reply.setCookie(config.cookiePrefix + name, '', {
        httpOnly: true,
        secure,
        sameSite: 'lax',
        path: pathOf(path),
        maxAge: 0,
      })
    },
  }
}
