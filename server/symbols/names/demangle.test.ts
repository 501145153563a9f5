import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { demangle } from './demangle.ts'
import { cases } from '#test/kit/properties.ts'

describe('readable names', () => {
  it.each([
    // C++, as `c++filt` writes them.
    [
      '_ZN6shapes5totalEPKPKNS_5ShapeEmNS_3VecE',
      'shapes::total(shapes::Shape const* const*, unsigned long, shapes::Vec)',
    ],
    ['__ZN3foo3barEv', 'foo::bar()'],
    ['_ZL3barv.llvm.1234', 'bar() [clone .llvm.1234]'],
    ['?foo@@YAHH@Z', 'foo(int)'],
    // Rust, both forms.
    ['_ZN4core3fmt9Formatter3new17h0123456789abcdefE', 'core::fmt::Formatter::new'],
    [
      '_RNvMs4_NtCslNYArtu3iFV_5alloc7raw_vecNtB5_11RawVecInner14grow_amortized',
      '<alloc::raw_vec::RawVecInner>::grow_amortized',
    ],
    // Swift.
    ['_$s3foo3barC3bas3zimyAaEC_tFTo', 'foo.bar.bas(zim:)'],
    ['$s4main3fooyySiFyyXEfU_TA.1', 'closure #1 in main.foo(_:)'],
    ['$s4main3FooC3barSivg', 'main.Foo.bar.getter'],
    ['$s4main3FooCACycfC', 'main.Foo.init()'],
    ['$s4main3FooCfD', 'main.Foo.deinit'],
    ['$s4main5greet4nameS2S_tF', 'main.greet(name:)'],
    ['$s7example4CartC3add4item5countyAA4ItemV_SitF', 'example.Cart.add(item:count:)'],
    ['$sSS4mainE5helloyyF', 'String.hello()'],
    ['$sSa6appendyyxnF', 'Array.append(_:)'],
    ['$sSD17dictionaryLiteralSDyxq_Gx_q_td_tcfC', 'Dictionary.init(dictionaryLiteral:)'],
    ['$s4main3fooyyYaKFTY0_', 'main.foo()'],
    ['$s4main3BoxV3mapyACyqd__Gqd__xXElF', 'main.Box.map(_:)'],
    ['$s13call_protocol1CCAA1PA2aDP3fooSiyFTW', 'protocol witness for call_protocol.P.foo() in call_protocol.C'],
  ])('%s', (raw, name) => {
    expect(demangle(raw)).toBe(name)
  })

  it.each([
    'main',
    '_main',
    '__memcpy',
    '-[Cart addItem:count:]',
    '+[Cart new]',
    '_Z',
    '_Zgarbage',
    '_R',
    '?',
    '$s',
    '$sIegg_',
    '',
  ])('keeps "%s"', (raw) => {
    expect(demangle(raw)).toBe(raw)
  })

  it('reads any text in bounded time', () => {
    const begin = fc.constantFrom('_Z', '_ZN', '_R', '?', '$s', '_$s4main', '_ZN1aI', '_RINvC1a1b')
    const piece = fc.constantFrom(
      'S_',
      'T_',
      'N1aI',
      'A2a',
      'B_',
      'P',
      'E',
      '3foo',
      'y',
      'Si',
      '_',
      't',
      'F',
      'G',
      'I',
      'J',
      'Sg',
      'A',
      'z',
    )
    fc.assert(
      fc.property(begin, fc.array(piece, { maxLength: 2_000 }), (start, pieces) => {
        const before = process.cpuUsage()
        expect(demangle(start + pieces.join('')).length).toBeLessThanOrEqual(16 * 1024)
        const used = process.cpuUsage(before)
        expect((used.user + used.system) / 1000).toBeLessThan(2_000)
      }),
      { numRuns: cases(300, 20_000) },
    )
    expect(demangle('_ZN3foo3barEv')).toBe('foo::bar()')
    const huge = `_ZN${'3foo'.repeat(300_000)}E`
    expect(demangle(huge)).toBe(huge)
  })
})
