import type { Page } from 'playwright-core'

/** Ids and names in the addresses. */
export type Places = {
  readonly android: string
  readonly web: string
  readonly api: string
  readonly empty: string
  readonly rule: string
  readonly importId: string
  readonly release: string
  readonly quietRelease: string
  readonly monitor: string
  /** Ids of issues by the type of their error. */
  readonly issues: Readonly<Record<string, string>>
  /** A delivery that failed twice. */
  readonly delivery: string
  readonly trace: string
  readonly transaction: string
}

/** A page of the dashboard in one of its states. */
export type Scene = {
  readonly name: string
  readonly as: 'owner' | 'newcomer' | 'visitor'
  readonly address: string
  /** Takes the page from its first state to this one. */
  readonly steps?: (page: Page, size: 'desk' | 'phone') => Promise<unknown>
  /** Only at this size. */
  readonly only?: 'desk' | 'phone'
}

const press = (page: Page, ...keys: string[]) =>
  keys.reduce(async (before, key) => {
    await before
    await page.keyboard.press(key)
    await page.waitForTimeout(60)
  }, Promise.resolve())
const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name }).filter({ visible: true }).first()
const opened = (page: Page, role: 'menu' | 'dialog' | 'option' | 'listbox') => page.getByRole(role).first().waitFor()

/** Every picture. A scene whose state cannot be reached is reported, and the others are taken. */
export function scenesOf(world: Places): Scene[] {
  const issue = (type: string) => `/issues/${world.issues[type] ?? 'unknown'}`
  const crash = issue('IllegalStateException')
  const settings = (part: string, project = world.android) => `/projects/${project}/settings/${part}`
  const owner = (name: string, address: string, steps?: Scene['steps'], only?: Scene['only']): Scene => ({
    name,
    as: 'owner',
    address,
    ...(steps === undefined ? {} : { steps }),
    ...(only === undefined ? {} : { only }),
  })
  const menu = (name: string | RegExp) => async (page: Page) => {
    await button(page, name).click()
    await opened(page, 'menu')
  }
  const dialogOf = (menuName: string | RegExp, item: string | RegExp) => async (page: Page) => {
    await menu(menuName)(page)
    await page.getByRole('menuitem', { name: item }).click()
    await opened(page, 'dialog')
  }
  return [
    { name: 'login', as: 'visitor', address: '/login' },
    {
      name: 'login-refused',
      as: 'visitor',
      address: '/login',
      steps: async (page) => {
        await page.getByRole('textbox', { name: /mail/ }).fill('ines@meadowlark.example')
        await page.getByRole('textbox', { name: 'Password' }).fill('not the password')
        await press(page, 'Enter')
        await page.getByRole('alert').first().waitFor()
      },
    },
    { name: 'signup', as: 'visitor', address: '/signup' },
    {
      name: 'signup-errors',
      as: 'visitor',
      address: '/signup',
      steps: (page) => button(page, 'Create organisation').click(),
    },
    { name: 'not-found', as: 'visitor', address: '/no/such/page' },
    { name: 'forgot', as: 'visitor', address: '/forgot' },
    { name: 'reset', as: 'visitor', address: '/reset' },
    { name: 'invite', as: 'visitor', address: '/invite' },
    { name: 'confirm-email', as: 'visitor', address: '/confirm-email' },
    { name: 'chat-link', as: 'visitor', address: '/chat/link' },
    { name: 'unsubscribe', as: 'visitor', address: '/unsubscribe' },

    { name: 'onboarding-project', as: 'newcomer', address: '/onboarding?step=project' },
    owner('onboarding-send', `/onboarding?project=${world.empty}`),
    owner('onboarding-send-android', `/onboarding?project=${world.android}`),

    owner('issues', '/issues'),
    owner('issues-30d', '/issues?range=30d'),
    owner('issues-all-states', '/issues?status=resolved&status=ignored&status=regressed&range=7d'),
    owner('issues-empty', `/issues?project=${world.empty}`),
    owner('issues-filtered-away', '/issues?severity=low&q=nothing-is-called-this'),
    owner('issues-chips', '/issues?severity=critical&severity=high&platform=java&assignee=none'),
    owner('issues-query-refused', '/issues?q=is%3Aunresolved%20AND%20('),
    owner('issues-selected', '/issues', (page) => press(page, 'j', 'x', 'j', 'x')),
    owner(
      'issues-merge',
      '/issues',
      async (page) => {
        await press(page, 'j', 'x', 'j', 'x', 'm')
      },
      'desk',
    ),
    owner('issues-filter-panel', '/issues', (page) => press(page, 'f'), 'desk'),
    owner('issues-sort', '/issues', menu(/^Sort/)),
    owner('issues-views', '/issues', (page) => button(page, 'Saved views').click(), 'desk'),
    owner('issues-status-menu', '/issues', menu(/^Status of /), 'desk'),
    owner('issues-severity-menu', '/issues', menu(/^Severity of /), 'desk'),
    owner(
      'issues-assign',
      '/issues',
      async (page) => {
        await press(page, 'j', 'a')
        await opened(page, 'option')
      },
      'desk',
    ),
    owner(
      'issues-delete',
      '/issues',
      async (page) => {
        await press(page, 'Control+a')
        await button(page, /^Delete/).click()
        await opened(page, 'dialog')
      },
      'desk',
    ),
    owner('issues-search-help', '/issues', (page) => button(page, 'Search help').click(), 'desk'),
    owner('issues-time', '/issues?from=2026-11-20T04%3A00Z&to=2026-11-20T09%3A00Z'),

    owner('issue', crash),
    owner('issue-web', issue('ChunkLoadError')),
    owner('issue-regressed', issue('OutOfMemoryError')),
    owner('issue-new', issue('SlotPickerError')),
    owner('issue-message', issue('Stock of article 88-1200 could not be read; the shelf shows yesterday’s count')),
    owner(
      'issue-native',
      `/issues/${world.issues['SIGSEGV'] ?? Object.entries(world.issues).find(([type]) => type.startsWith('SIG'))?.[1] ?? 'unknown'}`,
    ),
    owner('issue-unknown', '/issues/01900000-0000-7000-8000-000000000000'),
    owner('issue-chart-table', crash, async (page) => page.getByText('View as table').first().click()),
    owner('issue-toast', crash, async (page) => {
      await button(page, 'Copy link').click()
      await page.locator('[data-toast]').waitFor()
    }),
    owner('issue-resolve-menu', crash, menu('Resolve options')),
    owner('issue-resolve-release', crash, dialogOf('Resolve options', /another release/)),
    owner('issue-ignore-menu', crash, menu('Ignore options')),
    owner('issue-ignore-events', crash, dialogOf('Ignore options', /More events/)),
    owner('issue-more', crash, menu('More actions')),
    owner('issue-merge', crash, dialogOf('More actions', /^Merge/)),
    owner('issue-discard', crash, dialogOf('More actions', /^Discard/)),
    owner('issue-events', `${crash}/events`),
    owner('issue-assignee', crash, async (page) => {
      await press(page, 'a')
      await opened(page, 'option')
    }),
    owner('issue-mention', crash, async (page) => {
      await press(page, 'c')
      await page.keyboard.type('Ask @t')
      await opened(page, 'option')
    }),
    owner('issue-grouping', crash, (page) => page.locator('#grouping').scrollIntoViewIfNeeded()),

    owner('overview', `/overview?project=${world.android}`),
    owner('overview-web', `/overview?project=${world.web}`),
    owner('overview-empty', `/overview?project=${world.empty}`),
    owner('logs', `/logs?project=${world.web}`),
    owner('logs-open', `/logs?project=${world.web}&level=error&level=warn`, async (page) => {
      await page
        .getByRole('button', { name: /token exchange refused/ })
        .first()
        .click()
      await page.getByRole('button', { name: 'Copy JSON' }).waitFor()
    }),
    owner('logs-filtered', `/logs?project=${world.web}&q=nothing`),
    owner('logs-empty', `/logs?project=${world.empty}`),
    owner('trace-metrics', `/trace-metrics?project=${world.web}`),
    owner('trace-metrics-grouped', `/trace-metrics?project=${world.web}&name=queue.wait&by=region`),
    owner('trace-metrics-empty', `/trace-metrics?project=${world.empty}`),
    owner('metrics', `/metrics?project=${world.android}&range=24h`),
    owner('metrics-server', `/metrics?project=${world.api}&range=24h`),
    owner('performance', `/performance?project=${world.android}&range=24h`),
    owner('performance-web', `/performance?project=${world.web}&range=24h`),
    owner('performance-server', `/performance?project=${world.api}&range=24h`),
    owner('performance-server-7d', `/performance?project=${world.api}&range=7d`),
    owner('performance-empty', `/performance?project=${world.empty}`),
    owner('screens', `/performance/screens?project=${world.android}&range=24h`),
    owner('anr', `/performance/anr?project=${world.android}&range=24h`),
    owner('battery', `/performance/battery?project=${world.android}&range=24h`),
    owner('transaction', `/performance/t/${encodeURIComponent(world.transaction)}?project=${world.api}&range=24h`),
    owner('traces', '/traces?range=24h'),
    owner('traces-filtered-away', '/traces?range=24h&q=nothing'),
    owner('trace', `/traces/${world.trace}`),
    owner('trace-span', `/traces/${world.trace}`, async (page) =>
      page
        .getByRole('link', { name: /id\.example/ })
        .first()
        .click(),
    ),
    owner('trace-unknown', `/traces/${'0'.repeat(31)}1`),
    owner('overview-server', `/overview?project=${world.api}`),
    owner('logs-all', '/logs'),
    owner('symbols', `/symbols?project=${world.android}`),
    owner('feedback', '/feedback'),
    owner('feedback-message', '/feedback', async (page) => {
      await page.getByRole('link', { name: /The pay button/ }).click()
      await page.getByRole('region', { name: 'From Mara L.' }).waitFor()
    }),
    owner('monitors', '/monitors'),
    owner('monitors-attention', '/monitors?state=attention'),
    owner('monitors-empty', `/monitors?project=${world.empty}`),
    owner('monitor', `/monitors/${world.monitor}`),
    owner('monitor-edit', `/monitors/${world.monitor}`, async (page) => {
      await button(page, 'Edit').click()
      await opened(page, 'dialog')
    }),

    owner('releases', `/releases?project=${world.android}`),
    owner('releases-7d', `/releases?project=${world.android}&range=7d`),
    owner('releases-24h', `/releases?project=${world.android}&range=24h`),
    owner('releases-empty', `/releases?project=${world.empty}`),
    owner('releases-create', `/releases?project=${world.android}`, async (page) => {
      await button(page, 'Create release').click()
      await opened(page, 'dialog')
    }),
    owner('releases-environment', `/releases?project=${world.android}`, menu(/environment/i)),
    owner('releases-table-view', `/releases?project=${world.android}`, async (page) =>
      page.getByText('View as table').first().click(),
    ),
    owner('release', `/releases/${world.release}`),
    owner('release-quiet', `/releases/${world.quietRelease}`),

    owner('ask', `/ask?project=${world.android}`),
    owner('query', `/query?project=${world.android}`),
    owner('assistant', '/org/assistant'),
    owner('intake', `/intake?project=${world.android}`),
    owner('intake-30d', `/intake?project=${world.android}&range=30d`),
    owner('intake-empty', `/intake?project=${world.empty}`),

    owner('settings-choose', '/projects'),
    owner('settings-general', settings('general')),
    owner('settings-general-server', `/projects/${world.api}/settings/general`),
    owner('settings-keys', settings('keys')),
    owner('settings-install', settings('install')),
    owner('settings-retention', settings('retention')),
    owner('settings-key-add', settings('keys'), (page) => press(page, 'n')),
    owner('settings-rotate', settings('keys'), async (page) => {
      await button(page, 'Rotate').click()
      await opened(page, 'dialog')
    }),
    owner('settings-filters', settings('filters')),
    owner('settings-scrubbing', settings('scrubbing')),
    owner('settings-ownership', settings('ownership')),
    owner('settings-integrations', settings('integrations')),
    owner('settings-grouping', settings('grouping')),
    owner('settings-grouping-rule', settings('grouping'), (page) => button(page, 'Add rule').click()),

    { name: 'webhooks-empty', as: 'newcomer', address: '/org/webhooks' },
    owner('webhooks', '/org/webhooks'),
    owner('webhooks-delivery', `/org/webhooks?delivery=${world.delivery}`),
    owner('webhooks-filtered-away', '/org/webhooks?state=failed&type=user.deleted'),
    owner('webhooks-add', '/org/webhooks', async (page) => {
      await button(page, 'Add endpoint').click()
      await button(page, 'Only selected types').click()
    }),
    owner('webhooks-rotate', '/org/webhooks', async (page) => {
      await button(page, 'Rotate').click()
      await opened(page, 'dialog')
    }),
    owner('webhooks-menu', '/org/webhooks', menu(/^More actions: /)),
    owner('webhooks-verify', '/org/webhooks', async (page) => {
      await button(page, 'Verify a signature').click()
      await opened(page, 'dialog')
    }),
    owner('audit', '/org/audit'),
    owner('audit-filtered-away', '/org/audit?action=user.deleted&from=2026-11-01'),
    owner('audit-entry', '/org/audit?action=webhook.*', async (page) => {
      await page.getByRole('link', { name: 'webhook.endpoint.created' }).first().click()
      await opened(page, 'dialog')
    }),

    owner('organisation', '/org/general'),
    owner('members', '/org/members'),
    owner('sso', '/org/sso'),
    owner('api-keys', '/org/api-keys'),
    owner('imports', '/org/import'),
    owner('import', `/org/import/${world.importId}`),
    owner('operator', '/operator'),
    owner('me-appearance', '/me/appearance'),
    owner('me-profile', '/me/profile'),
    owner('me-sessions', '/me/sessions'),
    owner('me-notifications', '/me/notifications'),
    owner('me-security', '/me/security'),

    owner('menu-project', '/issues', async (page) => {
      await press(page, 'p')
      await opened(page, 'menu')
    }),
    owner('menu-account', '/issues', async (page, size) => menu(size === 'phone' ? 'More' : /account of/)(page)),
    owner('alerts', '/alerts'),
    owner('alerts-rules', '/alerts/rules'),
    owner('alerts-new-rule', `/alerts/rules/new?project=${world.android}`),
    owner('alerts-history', '/alerts/history'),
    owner('alerts-rule', `/alerts/rules/${world.rule}`),
    owner('bell', '/issues', async (page) => {
      await press(page, 'b')
      await page.getByRole('tab', { name: /^Alerts/ }).waitFor()
    }),
    owner('inbox', '/issues', async (page) => {
      await press(page, 'b')
      await page.getByRole('tab', { name: /^For you/ }).click()
      await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    }),
    owner('keys', '/issues', async (page) => {
      await press(page, '?')
      await opened(page, 'dialog')
    }),
    owner('palette', '/issues', async (page) => {
      await press(page, 'Control+k')
      await opened(page, 'option')
    }),
    owner('palette-typed', '/issues', async (page) => {
      await press(page, 'Control+k')
      await page.keyboard.type('shop')
      await page.getByRole('option').first().waitFor()
    }),
  ]
}
