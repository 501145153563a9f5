import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { readConfig } from '#server/config/config.ts'

/**
 * Dockerfile, compose file, systemd unit and Helm chart, without a container engine: what they name exists, settings are
 * those of the product, no password has a default, and processes have no more rights than they need. `helm` and `hadolint`
 * look at them too where they are installed.
 */

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const has = (command: string, ...args: string[]): boolean => spawnSync(command, args, { stdio: 'ignore' }).status === 0

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-deploy-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Starts with these settings as the product does; files of secrets get a value that fits. */
function configOf(settings: Record<string, string>) {
  const folder = scratch()
  const env = Object.entries(settings).map(([name, value]) => {
    if (!name.endsWith('_FILE')) return [name, value] as const
    const path = join(folder, name)
    writeFileSync(path, name.startsWith('SMTP') ? 'smtp://mail.example:587\n' : 'k1:c2VjcmV0\n')
    return [name, path] as const
  })
  return readConfig(Object.fromEntries(env))
}

/** Settings that the image has before any other. */
const IMAGE = { NODE_ENV: 'production', HOST: '0.0.0.0', PORT: '8000', FAULTLINE_DATA_DIR: '/data' }
const SECRET = /PASSWORD|SECRET|TOKEN|KEYS?$|SMTP_URL/

describe('Dockerfile', () => {
  const text = read('Dockerfile')
  const instructions = text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => ({ name: line.split(' ', 1)[0] ?? '', rest: line.slice(line.indexOf(' ') + 1).trim() }))
  const all = (name: string): string[] => instructions.filter((one) => one.name === name).map(({ rest }) => rest)
  const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'))

  test('starts from named versions and adds nothing from elsewhere', () => {
    expect(all('FROM').length).toBeGreaterThan(1)
    for (const from of all('FROM')) expect(from).toMatch(/^[a-z]+:(?!latest)[\w.-]+(?: AS \w+)?$/)
    expect(all('ADD')).toEqual([])
    expect(text).not.toMatch(/curl|wget|sudo/)
    for (const run of all('RUN').filter((rest) => rest.includes('apt-get'))) {
      expect(run).toContain('--no-install-recommends')
      expect(run).toContain('rm -rf /var/lib/apt/lists/*')
    }
  })

  test('runs as a user without rights, answers a health check, and takes signals itself', () => {
    const of = (name: string) => last.filter((one) => one.name === name).map(({ rest }) => rest)
    expect(of('USER')).toEqual(['10001:10001'])
    expect(last.findIndex(({ name }) => name === 'USER')).toBeGreaterThan(last.findIndex(({ name }) => name === 'COPY'))
    for (const name of ['ENTRYPOINT', 'CMD']) expect(JSON.parse(of(name)[0] ?? '')).toBeInstanceOf(Array)
    const [, command = ''] = /CMD (\[.*\])$/.exec(of('HEALTHCHECK')[0] ?? '') ?? []
    const [program, flag, code] = z.array(z.string()).parse(JSON.parse(command))
    expect([program, flag]).toEqual(['node', '-e'])
    // Nothing listens there.
    const checked = spawnSync(process.execPath, ['-e', code ?? ''], { env: { PORT: '1' } })
    expect(checked.status).toBe(1)
    expect(of('VOLUME')).toEqual(['["/data"]'])
  })

  test('sets what the image needs, and no secret', () => {
    const words = last.filter((one) => one.name === 'ENV').flatMap(({ rest }) => rest.split(/\s+/))
    const env = Object.fromEntries(
      words.map((word) => {
        const at = word.indexOf('=')
        return [word.slice(0, at), word.slice(at + 1)] as const
      }),
    )
    expect(env).toMatchObject(IMAGE)
    for (const name of [...Object.keys(env), ...all('ARG')]) expect(name).not.toMatch(SECRET)
    expect(last.find(({ name }) => name === 'EXPOSE')?.rest).toBe(IMAGE.PORT)
    expect(() => configOf(IMAGE)).toThrow('PUBLIC_URL is required')
  })

  test('copies files that exist and that .dockerignore lets in', () => {
    const lines = read('.dockerignore').split('\n')
    expect(lines.filter((line) => line !== '' && !line.startsWith('#'))[0]).toBe('*')
    const kept = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
    for (const path of kept) expect(existsSync(join(root, path)), path).toBe(true)
    for (const path of ['.git', 'data', 'secrets', 'node_modules', 'test', '.env', 'faultline-data', 'build'])
      expect(kept).not.toContain(path)
    const copied = all('COPY').filter((rest) => !rest.startsWith('--from') && rest !== '. .')
    for (const path of copied.flatMap((rest) => rest.split(' ').slice(0, -1))) expect(kept).toContain(path)
    // The package is made of these.
    const script = read('scripts/package/write-package.ts')
    const [, parts = ''] = /const PARTS = \[([^\]]*)\]/.exec(script) ?? []
    const needed = [...parts.matchAll(/'([^'/]+)[^']*'/g)].map(([, name = '']) => name)
    expect(needed.length).toBeGreaterThan(5)
    for (const name of [...needed, 'server', 'shared', 'deploy', 'vite.config.ts']) expect(kept).toContain(name)
  })

  test('the stage that builds has the library of Node, in a folder that no source names', () => {
    const build = instructions.slice(
      0,
      instructions.findIndex(({ rest }) => rest.endsWith('AS packages')),
    )
    const of = (name: string): string[] => build.filter((one) => one.name === name).map(({ rest }) => rest)
    expect(of('RUN').findIndex((run) => run.includes('libatomic1'))).toBe(0)
    const [folder = ''] = of('WORKDIR')
    expect(folder).toMatch(/^\/[\w-]+$/)
    // `npm run package` refuses a file that names the folder it was built in.
    const sources = ['server', 'shared', 'scripts', 'web', 'migrations', 'bench', 'demo']
    const { status, stdout } = spawnSync('git', ['grep', '--fixed-strings', '-l', folder, '--', ...sources], {
      cwd: root,
      encoding: 'utf8',
    })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  })

  test.runIf(has('hadolint', '--version'))('hadolint finds nothing', () => {
    const { stdout, status } = spawnSync('hadolint', ['Dockerfile'], { cwd: root, encoding: 'utf8' })
    expect({ stdout, status }).toEqual({ stdout: '', status: 0 })
  })
})

describe('compose.yaml', () => {
  const Compose = z.object({
    services: z.record(
      z.string(),
      z.looseObject({
        image: z.string(),
        environment: z.record(z.string(), z.string()),
        secrets: z.array(z.string()),
        ports: z.array(z.string()).default([]),
        volumes: z.array(z.string()),
        networks: z.array(z.string()),
        security_opt: z.array(z.string()),
      }),
    ),
    secrets: z.record(z.string(), z.object({ file: z.string() })),
    volumes: z.record(z.string(), z.null()),
    networks: z.record(z.string(), z.object({ internal: z.boolean() }).nullable()),
  })
  const { services, secrets, volumes, networks } = Compose.parse(parse(read('compose.yaml')))

  test('what services name exists', () => {
    for (const one of Object.values(services)) {
      for (const name of one.secrets) expect(secrets).toHaveProperty([name])
      for (const name of one.networks) expect(networks).toHaveProperty([name])
      for (const volume of one.volumes) expect(volumes).toHaveProperty([volume.split(':', 1)[0] ?? ''])
      for (const [name, value] of Object.entries(one.environment))
        if (name.endsWith('_FILE')) expect(one.secrets).toContain(value.replace('/run/secrets/', ''))
    }
  })

  test('no secret has a value, and no port is open to other machines', () => {
    for (const { environment, ports, image } of Object.values(services)) {
      for (const [name, value] of Object.entries(environment))
        if (SECRET.test(name)) expect(value, name).toMatch(/^(?:\$\{\w+:-\}|\/run\/secrets\/[\w-]+)$/)
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/)
      expect(image).toMatch(/:/)
    }
    expect(services['postgres']?.networks).toEqual(['inside'])
    expect(networks['inside']?.internal).toBe(true)
  })

  test('the settings are those of the product', () => {
    const { PUBLIC_URL: address = '', ...others } = services['faultline']?.environment ?? {}
    expect(address).toMatch(/^\$\{PUBLIC_URL:\?/)
    const given = Object.fromEntries(
      Object.entries(others).map(([name, value]) => [name, value.replace(/^\$\{.*\}$/, '')]),
    )
    const config = configOf({ ...IMAGE, ...given, PUBLIC_URL: 'https://faultline.example.com' })
    expect(config).toMatchObject({ mode: 'strict', dataDir: '/data', encryptionKeys: 'k1:c2VjcmV0' })
    expect(config.databaseUrl).toMatch(/^postgres:\/\/faultline:.+@postgres:5432\/faultline$/)
  })

  test('the service has no more rights than it needs', () => {
    expect(services['faultline']).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      volumes: ['data:/data', 'backups:/backups'],
    })
  })
})

describe('systemd unit', () => {
  const unit = read('deploy/systemd/faultline.service')
  /** With a program that exists. */
  const written = (): string => {
    const path = join(scratch(), 'faultline.service')
    writeFileSync(path, unit.replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'))
    return path
  }

  test('its settings are those of the product', () => {
    const lines = [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(
      ([, name = '', value = '']) => [name, value] as const,
    )
    const config = configOf({ ...Object.fromEntries(lines), PUBLIC_URL: 'https://faultline.example.com' })
    expect(config).toMatchObject({ mode: 'strict', dataDir: '/var/lib/faultline' })
    expect(unit).not.toMatch(/^User=root$/m)
  })

  test.runIf(has('systemd-analyze', '--version'))('systemd finds no fault, and few rights', () => {
    const path = written()
    const verified = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' })
    expect(verified.stdout + verified.stderr).toBe('')
    const score = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', path], {
      encoding: 'utf8',
    })
    expect(score.status, score.stdout + score.stderr).toBe(0)
  })
})

describe('Helm chart', () => {
  const chart = 'deploy/helm/faultline'
  const Values = z.record(z.string(), z.unknown())
  const values = Values.parse(parse(read(`${chart}/values.yaml`)))
  const Schema = z.looseObject({ properties: z.record(z.string(), z.looseObject({ properties: Values.optional() })) })
  const schema = Schema.parse(JSON.parse(read(`${chart}/values.schema.json`)))
  const templates = readdirSync(join(root, chart, 'templates')).map((name) => ({
    name,
    text: read(`${chart}/templates/${name}`),
  }))
  const GIVEN = ['--set', 'publicUrl=https://faultline.example.com', '--set', 'existingSecret=faultline']
  const helm = (...args: string[]) =>
    spawnSync('helm', args[0] === 'template' ? [...args, '--kube-version=1.30.0'] : args, {
      cwd: root,
      encoding: 'utf8',
    })

  test('version of the app is that of the product', () => {
    const { appVersion } = z.object({ appVersion: z.string() }).parse(parse(read(`${chart}/Chart.yaml`)))
    expect(appVersion).toBe(readConfig({}).version)
  })

  test('each value has its place in the schema, and each that a template uses exists', () => {
    for (const [name, value] of Object.entries(values)) {
      expect(schema.properties, name).toHaveProperty([name])
      const known = schema.properties[name]?.properties
      if (known !== undefined)
        for (const inner of Object.keys(z.record(z.string(), z.unknown()).parse(value)))
          expect(known).toHaveProperty([inner])
    }
    for (const { name, text } of templates)
      for (const [, path = ''] of text.matchAll(/\.Values\.([\w.]+)/g))
        expect(values, `${name}: ${path}`).toHaveProperty(path)
  })

  test('nothing secret has a default, and the pod has no more rights than it needs', () => {
    expect(values).toMatchObject({ existingSecret: '', publicUrl: '' })
    const pod = templates.find(({ name }) => name === 'statefulset.yaml')?.text ?? ''
    for (const line of [
      'automountServiceAccountToken: false',
      'runAsNonRoot: true',
      'readOnlyRootFilesystem: true',
      'allowPrivilegeEscalation: false',
      'drop: [ALL]',
      'type: RuntimeDefault',
    ])
      expect(pod).toContain(line)
  })

  test.runIf(has('helm', 'version'))('helm lints it, and its objects are complete', () => {
    expect(helm('lint', '--strict', chart, ...GIVEN).status).toBe(0)
    const missing = helm('template', 'demo', chart)
    expect(missing.status).not.toBe(0)
    expect(missing.stderr).toContain('publicUrl')
    const many = helm('template', 'demo', chart, ...GIVEN, '--set', 'replicas=3')
    expect(many.stderr).toContain('set database.host')
    const full = [
      'replicas=3',
      'database.host=db.internal',
      'ingress.enabled=true',
      'ingress.tlsSecret=tls',
      'smtp.enabled=true',
      'backup.existingClaim=backups',
    ]
    for (const [set, kinds] of [
      [[], ['Service', 'Service', 'StatefulSet']],
      [full, ['Ingress', 'PodDisruptionBudget', 'Service', 'Service', 'StatefulSet']],
    ] as const) {
      const { stdout, stderr } = helm('template', 'demo', chart, ...GIVEN, ...set.flatMap((one) => ['--set', one]))
      expect(stderr).toBe('')
      const Kubernetes = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) })
      const objects = parseAllDocuments(stdout).map((one) => Kubernetes.parse(one.toJS()))
      expect(objects.map(({ kind }) => kind).toSorted()).toEqual(kinds)
      const env = [...stdout.matchAll(/- name: ([A-Z_]+)\n\s+value: (.*)/g)].map(
        ([, name = '', value = '']) => [name, value.replaceAll('"', '')] as const,
      )
      expect(configOf({ ...IMAGE, ...Object.fromEntries(env) }).mode).toBe('strict')
    }
  })
})
