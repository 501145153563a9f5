import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { client } from '#test/kit/client.ts'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { anEvent, sendEvent } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'

/** The dashboard of Grafana and the alert rules of Prometheus (docs/watching.md) name metrics that exist. */

const root = join(import.meta.dirname, '../../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const DASHBOARD = 'deploy/monitoring/grafana-dashboard.json'
const ALERTS = 'deploy/monitoring/prometheus-alerts.yaml'

const Panels = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).default([]) })),
})
const Rules = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          labels: z.object({ severity: z.enum(['critical', 'warning']) }),
          annotations: z.object({ summary: z.string(), description: z.string() }),
        }),
      ),
    }),
  ),
})

const metricsIn = (expression: string): string[] => expression.match(/\b(?:faultline|process|nodejs)_[a-z0-9_]+/g) ?? []

test('every metric of the dashboard and of the alert rules is exported', async () => {
  const server = await testServer({ realTime: true, deliveries: true })
  const project = await aProject(await aFounder(server.url))
  // It waits for digestion, so that its project has a backlog.
  await sendEvent(server.url, project.dsn, anEvent())
  const { text } = await client(server.url).get('/-/metrics')
  const exported = new Set([...text.matchAll(/^([a-z]\w+)(?:\{| )/gm)].map(([, name]) => name))
  // These need a backup, a drill, and a channel without its connection.
  for (const name of ['backup_age_seconds', 'restore_drill_age_seconds', 'deliveries_not_sent_total']) {
    expect(read('server/service/cli/figures.ts')).toMatch(new RegExp(`'(?:faultline_)?${name}'`))
    exported.add(`faultline_${name}`)
  }
  const { panels } = Panels.parse(JSON.parse(read(DASHBOARD)))
  const { groups } = Rules.parse(parse(read(ALERTS)))
  const expressions = [
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ...groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
  ]
  expect(expressions.length).toBeGreaterThan(25)
  expect([...new Set(expressions.flatMap(metricsIn))].filter((name) => !exported.has(name))).toEqual([])
})

test('commands that the alert rules name exist', () => {
  const named = [...read(ALERTS).matchAll(/npm run admin -- (\w+)/g)].map(([, name = '']) => name)
  expect(named.length).toBeGreaterThan(2)
  for (const name of named) expect(read('server/main.ts')).toContain(`.command('${name}')`)
  expect(globSync('deploy/monitoring/*', { cwd: root }).toSorted()).toEqual([DASHBOARD, ALERTS].toSorted())
})
