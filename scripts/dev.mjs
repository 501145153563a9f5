/**
 * `npm run dev`: one address for everything. Vite answers on it with hot reloading and passes the server's paths on;
 * the server runs behind it on the next port and restarts when its sources change.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root, toolEnvironment } from './runtime.mjs'

/** First segments of the paths that the server handles. */
const serverPaths = ['/api', '/docs', '/healthz', '/readyz', '/-']

export async function develop(node) {
  const host = process.env.HOST || '127.0.0.1'
  const port = Number(process.env.PORT || 8000)
  const hasWeb = existsSync(join(root, 'web', 'index.html'))
  const serverPort = hasWeb ? port + 1 : port

  const vite = hasWeb ? await startVite({ host, port, target: `http://${host}:${serverPort}` }) : undefined

  const child = spawn(node, ['--watch', '--watch-preserve-output', join(root, 'server', 'main.ts'), 'serve'], {
    cwd: process.cwd(),
    env: {
      ...toolEnvironment(node),
      PORT: String(serverPort),
      PUBLIC_URL: process.env.PUBLIC_URL || `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    },
    stdio: 'inherit',
    // In a separate process group: Ctrl-C in a terminal then reaches it once, from here.
    detached: process.platform !== 'win32',
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill('SIGTERM'))
  const code = await new Promise((resolve) => {
    child.on('exit', (exitCode) => resolve(exitCode ?? 0))
  })
  await vite?.close()
  process.exitCode = code
}

async function startVite({ host, port, target }) {
  // vite.config.ts has a proxy too, for starting Vite by hand.
  process.env.DEV_API_URL = target
  const { createServer } = await import('vite')
  const server = await createServer({
    configLoader: 'native',
    ...(existsSync(join(root, 'vite.config.ts'))
      ? { configFile: join(root, 'vite.config.ts') }
      : { root: join(root, 'web') }),
    server: {
      host,
      port,
      strictPort: true,
      proxy: Object.fromEntries(serverPaths.map((path) => [`^${path}(/|$|\\?)`, { target, changeOrigin: false }])),
    },
  })
  await server.listen()
  return server
}
