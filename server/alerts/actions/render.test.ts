import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buttonsOf, type ChatPayload, markupOf, parseChat, referencesOf } from '#test/kit/chat-receiver.ts'
import { cases } from '#test/kit/properties.ts'
import { parseDiscord, parseMattermost, parseNtfy, parseTelegram, readTelegram } from '#test/kit/chat-vendors.ts'
import { parseTeamchat, textsOf } from '#test/kit/teamchat-receiver.ts'
import { AlertMessage } from '../rules/alert-message.ts'
import { acknowledgedAlert, aMessage, type MessageChanges, resolvedAlert } from './alert-message.fixture.ts'
import { findChatButton, CHAT_BUTTONS, OPEN_ACTION_ID } from './chat-buttons.ts'
import { renderChat } from './render-chat.ts'
import { escapeMarkdown, renderDiscord } from './render-discord.ts'
import { renderMattermost } from './render-mattermost.ts'
import { parseTopicUrl, renderNtfy } from './render-ntfy.ts'
import { renderPager } from './render-pager.ts'
import { renderTelegram } from './render-telegram.ts'
import { renderTeamchat } from './render-teamchat.ts'

const sentAs = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

/** As the chat takes it. */
function chat(changes: MessageChanges): ChatPayload {
  const parsed = parseChat(sentAs(renderChat(aMessage(changes))))
  if (typeof parsed === 'string') throw new Error(parsed)
  return parsed
}
const actionsOf = (changes: MessageChanges) =>
  buttonsOf(chat(changes)).map(({ action_id: id = '' }) => (id === OPEN_ACTION_ID ? 'open' : findChatButton(id)))
const summary = { count: 240, alert_ids: [], from: '2026-11-02T10:00:01.000Z', to: '2026-11-02T10:00:59.000Z' }

/** Texts of anybody, at any length. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.constantFrom(
    '<!channel> <@U0123456> <#C0123456|general> <https://evil.example|Open the alert>',
    '&'.repeat(5_000),
    '<'.repeat(5_000),
    '😀'.repeat(5_000),
    '\u0000\ud800\u202e'.repeat(500),
    '[Open](https://evil.example) **bold** ![x](https://evil.example/p.png)',
    '\n'.repeat(500),
    '',
  ),
)
const anyMessage = fc
  .record({
    type: fc.constantFrom(...AlertMessage.shape.type.options),
    title: hostile,
    explanation: hostile,
    state: fc.constantFrom('firing', 'acknowledged', 'resolved', 'expired'),
    reason: fc.option(hostile),
    name: hostile,
    value: fc.option(fc.double({ noNaN: true })),
    unit: fc.constantFrom('events', 'percent', 'ms', 'score', 'percent_per_hour', 'runs', null),
    hasIssue: fc.boolean(),
    isSummary: fc.boolean(),
  })
  .map(({ type, title, explanation, state, reason, name, value, unit, hasIssue, isSummary }) =>
    aMessage({
      type,
      alert: {
        title,
        explanation,
        state,
        value,
        unit,
        resolved_reason: reason,
        acknowledged_by: { id: '1', name },
        is_test: type === 'alert.test',
      },
      rule: { name },
      project: { name },
      issue: hasIssue
        ? { title, culprit: explanation, short_id: name, last_release: title, assignee: { id: '1', name } }
        : null,
      ...(isSummary ? { summary } : {}),
    }),
  )

describe('chat', () => {
  test('says what happened, where and why, with the issue as a link', () => {
    const message = chat({})
    const [header] = message.blocks
    expect(header).toMatchObject({ type: 'header', text: { text: 'Spike: CartError in CheckoutScreen' } })
    expect(message.text).toBe('Spike: CartError in CheckoutScreen (Shop)')
    const markup = markupOf(message).join('\n')
    for (const text of [
      '1,240 events in the last hour: 31 times the usual 40.',
      '|SHOP-42> CartError: no price for article 7',
      '*Project*\nShop',
      '*Severity*\nHigh',
      '*Measured*\n1,240 events (threshold 100 events) over 1 hour',
      '*Seen*\n1,240 events, 312 users',
      '*Release*\nshop@4.2.0',
      '*Assignee*\nAna Ruiz',
      '*Rule*\nSpikes of the shop',
      'Fired <!date^1793613600^{date_short_pretty} at {time}|2026-11-02 10:00 UTC>',
    ])
      expect(markup).toContain(text)
  })

  test.each<[string, MessageChanges, readonly (string | undefined)[]]>([
    ['firing, with an issue', {}, [...CHAT_BUTTONS, 'open']],
    ['firing, without an issue', { issue: null }, ['acknowledge', 'resolve', 'open']],
    ['acknowledged', { alert: acknowledgedAlert }, ['resolve', 'ignore', 'assign_to_me', 'open']],
    ['acknowledged, without an issue', { alert: acknowledgedAlert, issue: null }, ['resolve', 'open']],
    ['resolved', { type: 'alert.resolved', alert: resolvedAlert }, ['open']],
    ['a test', { type: 'alert.test' }, ['open']],
    ['a summary', { summary }, ['open']],
  ])('buttons when it is %s', (_name, changes, expected) => {
    expect(actionsOf(changes)).toEqual(expected)
  })

  test.each<[MessageChanges, string]>([
    [{ alert: { state: 'firing' }, escalated: true }, 'Escalated: Spike: CartError in CheckoutScreen'],
    [{ type: 'alert.acknowledged', alert: acknowledgedAlert }, 'Acknowledged: Spike: CartError in CheckoutScreen'],
    [{ type: 'alert.resolved', alert: resolvedAlert }, 'Resolved: Spike: CartError in CheckoutScreen'],
    [{ type: 'alert.test' }, 'Test: Spike: CartError in CheckoutScreen'],
    [{ summary }, '240 alerts of Spikes of the shop'],
    // It waited for the chat: what is true now is said.
    [{ type: 'alert.fired', alert: resolvedAlert }, 'Resolved: Spike: CartError in CheckoutScreen'],
  ])('the headline of %#', (changes, headline) => {
    expect(chat(changes).blocks[0]).toMatchObject({ text: { text: headline } })
  })

  test('the values of its buttons are the alert', () => {
    const message = aMessage()
    const parsed = parseChat(sentAs(renderChat(message)))
    if (typeof parsed === 'string') throw new Error(parsed)
    expect(new Set(buttonsOf(parsed).flatMap(({ value }) => value ?? []))).toEqual(new Set([message.data.alert.id]))
  })

  test('whatever apps report, it keeps the limits and holds no mention and no link but its own', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const parsed = parseChat(sentAs(renderChat(message)))
        if (typeof parsed === 'string') throw new Error(parsed)
        const own = message.data.issue === null ? [] : [message.data.issue.url]
        expect(referencesOf(parsed).map((inner) => inner.split('|')[0])).toEqual(own)
      }),
      { numRuns: cases(300, 20_000) },
    )
  })
})

describe('team chat', () => {
  test('is a card that says the same', () => {
    const message = aMessage()
    const card = parseTeamchat(sentAs(renderTeamchat(message)))
    expect(textsOf(card)).toEqual([
      'Spike: CartError in CheckoutScreen',
      '1,240 events in the last hour: 31 times the usual 40.',
      'Issue: SHOP-42 CartError: no price for article 7',
      'Project: Shop',
      'Severity: High',
      'Measured: 1,240 events (threshold 100 events) over 1 hour',
      'Seen: 1,240 events, 312 users',
      'Release: shop@4.2.0',
      'Assignee: Ana Ruiz',
      'Rule: Spikes of the shop',
      'Fired, 2026-11-02 10:00 UTC',
    ])
    expect(card.actions?.map(({ url }) => url)).toEqual([message.data.alert.url, message.data.issue?.url])
  })

  test('whatever apps report, it keeps its size, and their texts are never Markdown', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const card = parseTeamchat(sentAs(renderTeamchat(message)))
        expect(new Set(card.body?.map(({ type }) => type))).toEqual(new Set(['RichTextBlock']))
      }),
      { numRuns: cases(300, 20_000) },
    )
  })
})

describe('pager', () => {
  const KEY = '0f1e2d3c4b5a69788796a5b4c3d2e1f0'

  test('opens, acknowledges and resolves one incident for each rule and subject', () => {
    const fired = aMessage()
    const { rule, issue } = fired.data
    const subject = issue?.id ?? ''
    const event = renderPager(fired, subject, KEY)
    expect(event).toMatchObject({
      routing_key: KEY,
      event_action: 'trigger',
      dedup_key: `${rule.id}/${subject}`,
      payload: {
        summary: '[Shop] Spike: CartError in CheckoutScreen',
        source: 'shop',
        severity: 'error',
        timestamp: '2026-11-02T10:00:00.000Z',
        component: 'CheckoutScreen.total',
        class: 'issue_spike',
        custom_details: { Issue: 'SHOP-42 CartError: no price for article 7', Severity: 'High' },
      },
    })
    for (const [type, action] of [
      ['alert.acknowledged', 'acknowledge'],
      ['alert.resolved', 'resolve'],
    ] as const)
      expect(renderPager({ ...fired, type }, subject, KEY)).toEqual({
        routing_key: KEY,
        event_action: action,
        dedup_key: event.dedup_key,
      })
  })

  test('severities are those of pagers', () => {
    const of = (severity: 'critical' | 'high' | 'medium' | 'low') =>
      renderPager(aMessage({ alert: { severity } }), '', KEY).payload?.severity
    expect([of('critical'), of('high'), of('medium'), of('low')]).toEqual(['critical', 'error', 'warning', 'info'])
    expect(
      renderPager(aMessage({ type: 'alert.test', alert: { severity: 'critical' } }), '', KEY).payload?.severity,
    ).toBe('info')
  })

  test('a summary and a test have incidents of their own; those of a summary are the same when it is resolved', () => {
    const message = aMessage({ summary })
    const keys = [
      renderPager(message, 'a', KEY),
      renderPager({ ...message, type: 'alert.resolved' }, 'a', KEY),
      renderPager({ ...message, data: { ...message.data, summary: undefined } }, 'a', KEY),
      renderPager(aMessage({ type: 'alert.test', rule: message.data.rule }), 'a', KEY),
    ].map((event) => event.dedup_key)
    expect(keys[0]).toBe(keys[1])
    expect(new Set(keys).size).toBe(3)
  })

  test('whatever apps report, it keeps the limits', () => {
    fc.assert(
      fc.property(anyMessage, hostile, (message, subject) => {
        const { dedup_key: key, payload } = renderPager(message, subject, KEY)
        expect(key.length).toBeLessThanOrEqual(255)
        if (payload === undefined) return
        expect(payload.summary.length).toBeLessThanOrEqual(1_024)
        expect(payload.source).not.toBe('')
        expect(sentAs(payload).length).toBeLessThan(16_000)
      }),
      { numRuns: cases(300, 20_000) },
    )
  })
})

describe('further chats', () => {
  const parsed = <T>(value: T | string): T => {
    if (typeof value === 'string') throw new Error(value)
    return value
  }

  test('each says what happened, with the issue', () => {
    const message = aMessage()
    const [embed] = parsed(parseDiscord(sentAs(renderDiscord(message)))).embeds ?? []
    expect(embed).toMatchObject({ title: 'Spike\\: CartError in CheckoutScreen', url: message.data.alert.url })
    expect(embed?.description).toContain('[SHOP\\-42](')
    const [attachment] = parsed(parseMattermost(sentAs(renderMattermost(message)))).attachments
    expect(attachment?.text).toContain('1,240 events in the last hour')
    const text = readTelegram(parsed(parseTelegram(sentAs(renderTelegram(message, '-1001')))).text)
    expect(text).toContain('SHOP-42 CartError: no price for article 7')
    expect(parsed(parseNtfy(sentAs(renderNtfy(message, 'shop'))))).toMatchObject({
      topic: 'shop',
      title: 'Spike: CartError in CheckoutScreen',
      priority: 4,
      click: message.data.alert.url,
    })
    expect(renderNtfy(aMessage({ type: 'alert.resolved', alert: resolvedAlert }), 'shop').priority).toBe(2)
    expect(renderTelegram(aMessage({ type: 'alert.resolved', alert: resolvedAlert }), '1').disable_notification).toBe(
      true,
    )
  })

  test('whatever apps report, each keeps its limits, and no text mentions anyone or holds a link', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const own = message.data.issue === null ? [] : [message.data.issue.url]
        const discord = parsed(parseDiscord(sentAs(renderDiscord(message))))
        const [embed] = discord.embeds ?? []
        expect(discord.allowed_mentions.parse).toEqual([])
        const texts = [embed?.title ?? '', embed?.description ?? '', ...(embed?.fields ?? []).map(({ value }) => value)]
        const links = texts.flatMap((text) => [...text.matchAll(/(?<!\\)\]\(([^)]*)\)/g)].map(([, url]) => url))
        expect(links).toEqual(own)
        const [post] = parsed(parseMattermost(sentAs(renderMattermost(message)))).attachments
        const written = [post?.title ?? '', post?.text ?? '', ...(post?.fields ?? []).map(({ value }) => value)]
        expect(written.join(' ')).not.toMatch(/@(?!\u200b)/)
        const telegram = parsed(parseTelegram(sentAs(renderTelegram(message, '1'))))
        const hrefs = [...telegram.text.matchAll(/<a href="([^"]*)">/g)].map(([, url]) => url?.replaceAll('&amp;', '&'))
        expect(hrefs).toEqual([...own, message.data.alert.url])
        parsed(parseNtfy(sentAs(renderNtfy(message, 'shop'))))
      }),
      { numRuns: cases(300, 20_000) },
    )
  })

  test.each([
    ['https://ntfy.sh/shop-alerts', { root: 'https://ntfy.sh/', topic: 'shop-alerts' }],
    ['https://example.com/ntfy/shop/', { root: 'https://example.com/ntfy/', topic: 'shop' }],
    ['https://ntfy.sh/', null],
    ['https://ntfy.sh/a b', null],
  ])('the topic of %s', (url, topic) => expect(parseTopicUrl(url)).toEqual(topic))

  test('Markdown is escaped, character by character', () => {
    expect(escapeMarkdown('**@everyone** <@1> [x](y)')).toBe('\\*\\*\\@everyone\\*\\* \\<\\@1\\> \\[x\\]\\(y\\)')
  })
})
