import { describe, expect, test } from 'vitest'
import { cpuMs } from '#test/kit/loop-watch.ts'
import { cleanClass, cleanFunction, fileName, isPlaceholder, passesOn, tellsOfSystem } from './v3-names.ts'
import { stackInText } from './v3-places.ts'
import { parameterise, findProperty } from './v3-words.ts'

/** Words and names of version 3, where it differs from version 2. */

describe('messages', () => {
  test.each([
    ['customer "Bob": unknown', 'customer <quoted>: unknown'],
    ['{"total": 3}', '{"total": <number>}'],
    ["no 'EMMA'", 'no <quoted>'],
    ["no 'ENOENT'", "no 'ENOENT'"],
    ["user 'O'Brien' is gone", 'user <quoted> is gone'],
    ["can't do what isn't there", "can't do what isn't there"],
    ['SKU-12345-AB', '<token>'],
    ['sku-12345-ab', '<token>'],
    ['AB12CD34', '<token>'],
    ['ORD-12', 'ORD-<number>'],
    ['ORA-00942', 'ORA-00942'],
    ['Class "App\\Services\\Mailer" does not exist', 'Class <App\\Services\\Mailer> does not exist'],
    ['account "ACME\\bob" is locked', 'account <quoted> is locked'],
    ['job-12-import', 'job-<number>-import'],
    ['client v1.4.2', 'client v<number>'],
    ['plugin 1.4.0-beta.2', 'plugin <number>'],
    ['Chrome/120.0.6099.109', 'Chrome/<number>'],
    ['at 10.0.0.1:80', 'at <ip>'],
    ['since 2026-11-20T05:00:00Z', 'since <date>'],
    ['HTTP/1.1 404', 'HTTP/1.1 404'],
    ['API v1', 'API v1'],
    ['Loading chunk pages-cart failed.', 'Loading chunk <id> failed.'],
    ['no template "shop/cart.html.twig"', 'no template <shop/cart.html.twig>'],
  ])('%s is %s', (text, words) => {
    expect(parameterise(text)).toBe(words)
  })

  test.each([
    ["Cannot read properties of undefined (reading 'cart')", 'cart'],
    ["Cannot set properties of null (setting 'cart')", 'cart'],
    ["Cannot read property 'cart' of undefined", 'cart'],
    ['can\'t access property "cart", e is undefined', 'cart'],
    ["Unable to get property 'cart' of undefined or null reference", 'cart'],
    ["undefined is not an object (evaluating 'e.props.cart')", 'cart'],
    ["null is not an object (evaluating 'e.cart.items.map(t)')", 'map'],
    ["undefined is not a function (near '...e.cart...')", 'cart'],
    ['e.cart is not a function', 'cart'],
    ['cart is not defined', 'cart'],
    ["Can't find variable: cart", 'cart'],
    ["Cannot read properties of undefined (reading '12')", '<number>'],
    ['Failed to fetch', 'fetch'],
    ['Load failed', 'fetch'],
    ['Illegal invocation', null],
  ])('%s is about %s', (value, property) => {
    expect(findProperty(value.includes('variable') ? 'ReferenceError' : 'TypeError', value)).toBe(property)
    expect(findProperty('Error', value)).toBeNull()
  })
})

describe('names', () => {
  test.each([
    '<redacted>',
    '_mh_execute_header',
    '__mh_dylib_header',
    'stripped_application_code',
    '<unknown>',
    '???',
    '<compiler-generated>',
    '<symbol>',
    '<deduplicated_symbol>',
    'unknown',
    '0x1040ffff0',
    'sub_1a2b',
    'FUN_00401000',
    'main+0x123',
    '_mh_execute_header + 4096',
    '_kDartIsolateSnapshotInstructions+0x2f3a10',
    'game.exe!<unknown>+0x12',
    '___lldb_unnamed_symbol123',
    'OUTLINED_FUNCTION_12',
    'Java_com_acme_Game_tick+0x1ffff',
  ])('%s says no function', (name) => {
    expect(isPlaceholder(name)).toBe(true)
  })

  test.each([
    'main',
    '-[Cart pay] + 12',
    'Cart::Pay+0x1f',
    'sub_total',
    'init',
    '<shop::Card as shop::Pay>::pay',
    '<T>::x',
  ])('%s says one', (name) => {
    expect(isPlaceholder(name)).toBe(false)
  })

  test.each([
    'objc_msgSend',
    'CFRunLoopRunSpecific',
    'UIApplicationMain',
    '-[NSThread main]',
    'strlen',
    'operator new',
  ])('%s is called from everywhere', (name) => {
    expect(tellsOfSystem(name)).toBe(false)
  })

  test.each(['-[UITableView reloadData]', 'AVAudioSessionSetActive', '-[NSURLSessionTask resume]', 'gtk_widget_show'])(
    '%s says what the app did',
    (name) => {
      expect(tellsOfSystem(name)).toBe(true)
    },
  )

  test('proxies pass a call on, classes with such a word in their name do not', () => {
    for (const name of [
      'com.acme.Cart$$SpringCGLIB$$0',
      '$Proxy12',
      'com.acme.Cart$HibernateProxy$a1',
      'Castle.Proxies.X',
    ])
      expect(passesOn(name), name).toBe(true)
    for (const name of ['com.acme.ProxyService', 'com.acme.Cart$Pay', 'com.acme.reflect.Cart', 'com.acme.Cart'])
      expect(passesOn(name), name).toBe(false)
  })

  test('the longest names and texts of any of these take milliseconds', () => {
    const units = [
      '"a": ',
      "'O'B",
      'SKU-1',
      'A1B2',
      'v1.2',
      '1.2-a',
      'Loading chunk a',
      '"a/',
      'E',
      '#00 pc 0000 a ',
      '"Aa\\',
      '"a.',
      '$Proxy',
      'a$$',
    ]
    for (const unit of units) {
      const text = unit.repeat(4_000)
      const name = unit.repeat(300).slice(0, 1_024)
      const startMs = cpuMs()
      for (let round = 0; round < 10; round += 1) {
        parameterise(text)
        findProperty('TypeError', text)
        stackInText(text)
        for (const platform of ['native', 'java', 'php', 'javascript']) cleanFunction(name, platform)
        cleanClass(name)
        passesOn(name)
        fileName(name, false)
        tellsOfSystem(name)
      }
      expect((cpuMs() - startMs) / 10, unit).toBeLessThan(100)
    }
  })
})
