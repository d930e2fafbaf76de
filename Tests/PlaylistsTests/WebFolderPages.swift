/// Pages of real servers for one folder, as captured: nginx 1.22, Apache 2.4, lighttpd 1.4, caddy 2.6, Python
/// 3.11 and rclone 1.60. The styles, scripts and pictures of the larger ones are left out, and most rows.
enum WebFolderPages {
    /// The server, and its page of `/music/`.
    static let all: [(server: String, page: String)] = [
        (
            "nginx",
            #"""
            <html>
            <head><title>Index of /music/</title></head>
            <body>
            <h1>Index of /music/</h1><hr><pre><a href="../">../</a>
            <a href="Sub%20%26%20dir/">Sub &amp; dir/</a>                                         23-Nov-2026 02:38                   -
            <a href="1%20%C3%89t%C3%A9%20%231%3F.mp3">1 Été #1?.mp3</a>                                    23-Nov-2026 02:38                   0
            <a href="2%20Two%20%26%20a%20half.mp3">2 Two &amp; a half.mp3</a>                                 23-Nov-2026 02:38                   0
            <a href="50%25.mp3">50%.mp3</a>                                            23-Nov-2026 02:38                   0
            <a href="%3Ci%3E.mp3">&lt;i&gt;.mp3</a>                                            23-Nov-2026 02:38                   0
            <a href="A%3A%20B.mp3">A: B.mp3</a>                                           23-Nov-2026 02:38                   0
            <a href="a%2Bb%3Bc%3Dd%26amp%3B.mp3">a+b;c=d&amp;amp;.mp3</a>                                   23-Nov-2026 02:38                   0
            <a href="cover.jpg">cover.jpg</a>                                          23-Nov-2026 02:38                   0
            <a href="list.m3u">list.m3u</a>                                           23-Nov-2026 02:38                   0
            <a href="quote%20%22q%22%20it%27s.mp3">quote &quot;q&quot; it's.mp3</a>                                 23-Nov-2026 02:38                   0
            </pre><hr></body>
            </html>

            """#
        ),
        (
            "nginx as JSON",
            #"""
            [
            { "name":"Sub & dir", "type":"directory", "mtime":"Mon, 23 Nov 2026 02:38:05 GMT" },
            { "name":"1 Été #1?.mp3", "type":"file", "mtime":"Mon, 23 Nov 2026 02:38:05 GMT", "size":0 },
            { "name":"2 Two & a half.mp3", "type":"file", "mtime":"Mon, 23 Nov 2026 02:38:05 GMT", "size":0 },
            { "name":"50%.mp3", "type":"file", "mtime":"Mon, 23 Nov 2026 02:38:05 GMT", "size":0 },
            { "name":"<i>.mp3", "type":"file", "mtime":"Mon, 23 Nov 2026 02:38:05 GMT", "size":0 },
            { "name":"A: B.mp3", "type":"file", "mtime":"Mon, 23 Nov 2026 02:38:05 GMT", "size":0 },
            { "name":"a+b;c=d&amp;.mp3", "type":"file", "mtime":"Mon, 23 Nov 2026 02:38:05 GMT", "size":0 },
            { "name":"cover.jpg", "type":"file", "mtime":"Mon, 23 Nov 2026 02:38:05 GMT", "size":0 },
            { "name":"list.m3u", "type":"file", "mtime":"Mon, 23 Nov 2026 02:38:05 GMT", "size":0 },
            { "name":"quote \"q\" it's.mp3", "type":"file", "mtime":"Mon, 23 Nov 2026 02:38:05 GMT", "size":0 }
            ]
            """#
        ),
        (
            "Apache",
            #"""
            <!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">
            <html>
             <head>
              <title>Index of /music</title>
             </head>
             <body>
            <h1>Index of /music</h1>
            <pre>      <a href="?C=N;O=D">Name</a>                    <a href="?C=M;O=A">Last modified</a>      <a href="?C=S;O=A">Size</a>  <a href="?C=D;O=A">Description</a><hr>      <a href="/">Parent Directory</a>                             -
                  <a href=".hidden.mp3">.hidden.mp3</a>             2026-11-23 02:38    0
                  <a href="1%20%c3%89t%c3%a9%20%231%3f.mp3">1 Été #1?.mp3</a>         2026-11-23 02:38    0
                  <a href="2%20Two%20&amp;%20a%20half.mp3">2 Two &amp; a half.mp3</a>      2026-11-23 02:38    0
                  <a href="50%25.mp3">50%.mp3</a>                 2026-11-23 02:38    0
                  <a href="%3ci%3e.mp3">&lt;i&gt;.mp3</a>                 2026-11-23 02:38    0
                  <a href="./A:%20B.mp3">A: B.mp3</a>                2026-11-23 02:38    0
                  <a href="Sub%20&amp;%20dir/">Sub &amp; dir/</a>              2026-11-23 02:38    -
                  <a href="a+b;c=d&amp;amp;.mp3">a+b;c=d&amp;amp;.mp3</a>        2026-11-23 02:38    0
                  <a href="cover.jpg">cover.jpg</a>               2026-11-23 02:38    0
                  <a href="list.m3u">list.m3u</a>                2026-11-23 02:38    0
                  <a href="quote%20%22q%22%20it's.mp3">quote &quot;q&quot; it's.mp3</a>      2026-11-23 02:38    0
            <hr></pre>
            </body></html>

            """#
        ),
        (
            "Apache without a fancy index",
            #"""
            <!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">
            <html>
             <head>
              <title>Index of /plain/music</title>
             </head>
             <body>
            <h1>Index of /plain/music</h1>
            <ul><li><a href="/plain/"> Parent Directory</a></li>
            <li><a href=".hidden.mp3"> .hidden.mp3</a></li>
            <li><a href="1%20%c3%89t%c3%a9%20%231%3f.mp3"> 1 Été #1?.mp3</a></li>
            <li><a href="2%20Two%20&amp;%20a%20half.mp3"> 2 Two &amp; a half.mp3</a></li>
            <li><a href="50%25.mp3"> 50%.mp3</a></li>
            <li><a href="%3ci%3e.mp3"> &lt;i&gt;.mp3</a></li>
            <li><a href="./A:%20B.mp3"> A: B.mp3</a></li>
            <li><a href="Sub%20&amp;%20dir/"> Sub &amp; dir/</a></li>
            <li><a href="a+b;c=d&amp;amp;.mp3"> a+b;c=d&amp;amp;.mp3</a></li>
            <li><a href="cover.jpg"> cover.jpg</a></li>
            <li><a href="list.m3u"> list.m3u</a></li>
            <li><a href="quote%20%22q%22%20it's.mp3"> quote &quot;q&quot; it's.mp3</a></li>
            </ul>
            </body></html>

            """#
        ),
        (
            "Apache with a table",
            #"""
            <!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">
            <html>
             <head>
              <title>Index of /table/music</title>
             </head>
             <body>
            <h1>Index of /table/music</h1>
              <table>
               <tr><th valign="top">&nbsp;</th><th><a href="?C=N;O=D">Name</a></th><th><a href="?C=M;O=A">Last modified</a></th><th><a href="?C=S;O=A">Size</a></th><th><a href="?C=D;O=A">Description</a></th></tr>
               <tr><th colspan="5"><hr></th></tr>
            <tr><td valign="top">&nbsp;</td><td><a href="/table/">Parent Directory</a>       </td><td>&nbsp;</td><td align="right">  - </td><td>&nbsp;</td></tr>
            <tr><td valign="top">&nbsp;</td><td><a href=".hidden.mp3">.hidden.mp3</a>            </td><td align="right">2026-11-23 02:38  </td><td align="right">  0 </td><td>&nbsp;</td></tr>
            <tr><td valign="top">&nbsp;</td><td><a href="1%20%c3%89t%c3%a9%20%231%3f.mp3">1 Été #1?.mp3</a>        </td><td align="right">2026-11-23 02:38  </td><td align="right">  0 </td><td>&nbsp;</td></tr>
            <tr><td valign="top">&nbsp;</td><td><a href="2%20Two%20&amp;%20a%20half.mp3">2 Two &amp; a half.mp3</a>     </td><td align="right">2026-11-23 02:38  </td><td align="right">  0 </td><td>&nbsp;</td></tr>
            <tr><td valign="top">&nbsp;</td><td><a href="50%25.mp3">50%.mp3</a>                </td><td align="right">2026-11-23 02:38  </td><td align="right">  0 </td><td>&nbsp;</td></tr>
            <tr><td valign="top">&nbsp;</td><td><a href="%3ci%3e.mp3">&lt;i&gt;.mp3</a>                </td><td align="right">2026-11-23 02:38  </td><td align="right">  0 </td><td>&nbsp;</td></tr>
            <tr><td valign="top">&nbsp;</td><td><a href="./A:%20B.mp3">A: B.mp3</a>               </td><td align="right">2026-11-23 02:38  </td><td align="right">  0 </td><td>&nbsp;</td></tr>
            <tr><td valign="top">&nbsp;</td><td><a href="Sub%20&amp;%20dir/">Sub &amp; dir/</a>             </td><td align="right">2026-11-23 02:38  </td><td align="right">  - </td><td>&nbsp;</td></tr>
            <tr><td valign="top">&nbsp;</td><td><a href="a+b;c=d&amp;amp;.mp3">a+b;c=d&amp;amp;.mp3</a>       </td><td align="right">2026-11-23 02:38  </td><td align="right">  0 </td><td>&nbsp;</td></tr>
            <tr><td valign="top">&nbsp;</td><td><a href="cover.jpg">cover.jpg</a>              </td><td align="right">2026-11-23 02:38  </td><td align="right">  0 </td><td>&nbsp;</td></tr>
            <tr><td valign="top">&nbsp;</td><td><a href="list.m3u">list.m3u</a>               </td><td align="right">2026-11-23 02:38  </td><td align="right">  0 </td><td>&nbsp;</td></tr>
            <tr><td valign="top">&nbsp;</td><td><a href="quote%20%22q%22%20it's.mp3">quote &quot;q&quot; it's.mp3</a>     </td><td align="right">2026-11-23 02:38  </td><td align="right">  0 </td><td>&nbsp;</td></tr>
               <tr><th colspan="5"><hr></th></tr>
            </table>
            </body></html>

            """#
        ),
        (
            "lighttpd",
            #"""
            <!DOCTYPE html>
            <html>
            <head>
            <title>Index of /music/</title>
            </head>
            <body>
            <h2>Index of /music/</h2>
            <div class="list">
            <table summary="Directory Listing" cellpadding="0" cellspacing="0">
            <thead><tr><th class="n">Name</th><th class="m">Last Modified</th><th class="s">Size</th><th class="t">Type</th></tr></thead>
            <tbody>
            <tr class="d"><td class="n"><a href="../">..</a>/</td><td class="m">&nbsp;</td><td class="s">- &nbsp;</td><td class="t">Directory</td></tr>
            <tr class="d"><td class="n"><a href="Sub%20%26%20dir/">Sub &#x26; dir</a>/</td><td class="m">2026-Nov-23 02:38:05</td><td class="s">- &nbsp;</td><td class="t">Directory</td></tr>
            <tr><td class="n"><a href="1%20%C3%89t%C3%A9%20%231%3F.mp3">1 Été #1?.mp3</a></td><td class="m">2026-Nov-23 02:38:05</td><td class="s">0.0K</td><td class="t">application/octet-stream</td></tr>
            <tr><td class="n"><a href="2%20Two%20%26%20a%20half.mp3">2 Two &#x26; a half.mp3</a></td><td class="m">2026-Nov-23 02:38:05</td><td class="s">0.0K</td><td class="t">application/octet-stream</td></tr>
            <tr><td class="n"><a href="50%25.mp3">50%.mp3</a></td><td class="m">2026-Nov-23 02:38:05</td><td class="s">0.0K</td><td class="t">application/octet-stream</td></tr>
            <tr><td class="n"><a href="%3Ci%3E.mp3">&#x3C;i&#x3E;.mp3</a></td><td class="m">2026-Nov-23 02:38:05</td><td class="s">0.0K</td><td class="t">application/octet-stream</td></tr>
            <tr><td class="n"><a href="A%3A%20B.mp3">A: B.mp3</a></td><td class="m">2026-Nov-23 02:38:05</td><td class="s">0.0K</td><td class="t">application/octet-stream</td></tr>
            <tr><td class="n"><a href="a%2Bb%3Bc%3Dd%26amp%3B.mp3">a+b;c=d&#x26;amp;.mp3</a></td><td class="m">2026-Nov-23 02:38:05</td><td class="s">0.0K</td><td class="t">application/octet-stream</td></tr>
            <tr><td class="n"><a href="cover.jpg">cover.jpg</a></td><td class="m">2026-Nov-23 02:38:05</td><td class="s">0.0K</td><td class="t">application/octet-stream</td></tr>
            <tr><td class="n"><a href="list.m3u">list.m3u</a></td><td class="m">2026-Nov-23 02:38:05</td><td class="s">0.0K</td><td class="t">application/octet-stream</td></tr>
            <tr><td class="n"><a href="quote%20%22q%22%20it%27s.mp3">quote &#x22;q&#x22; it&#x27;s.mp3</a></td><td class="m">2026-Nov-23 02:38:05</td><td class="s">0.0K</td><td class="t">application/octet-stream</td></tr>
            </tbody>
            </table>
            </div>
            <div class="foot">lighttpd/1.4.69</div>
            </body>
            </html>

            """#
        ),
        (
            "caddy",
            #"""
            <!DOCTYPE html>
            <html>
            <head>
                <title>music</title>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width, initial-scale=1.0">
            </head>
            <body onload='initFilter()'>
                <header><h1><a href="../">/</a><a href="">music</a>/</h1></header>
                <main><div class="meta"><div id="summary"><span class="meta-item"><b>2</b> directories</span><span class="meta-item"><b>14</b> files</span><span class="meta-item"><input type="text" placeholder="filter" id="filter" onkeyup='filter()'></span></div></div><div class="listing"><table aria-describedby="summary">
               <thead><tr><th></th><th><a href="?sort=namedirfirst&order=desc"class="icon"></a><ahref="?sort=name&order=asc">Name</a></th><th><ahref="?sort=size&order=asc">Size</a></th><th class="hideable"><ahref="?sort=time&order=asc">Modified</a></th><th class="hideable"></th></tr>
               </thead>
               <tbody>
               <tr><td></td><td><a href=".."><span class="goup">Go up</span></a></td><td>&mdash;</td><td class="hideable">&mdash;</td><td class="hideable"></td></tr>
               <tr class="file"><td></td><td><a href="./Sub%20&amp;%20dir/"><span class="name">Sub &amp; dir/</span></a></td><td data-order="-1">&mdash;</td><td class="hideable"><time datetime=" 2026-11-23T02:38:05Z">11/23/2026 02:38:05 AM +00:00</time></td><td class="hideable"></td></tr>
               <tr class="file"><td></td><td><a href="./.hidden.mp3"><span class="name">.hidden.mp3</span></a></td><td data-order="0">0 B</td><td class="hideable"><time datetime=" 2026-11-23T02:38:05Z">11/23/2026 02:38:05 AM +00:00</time></td><td class="hideable"></td></tr>
               <tr class="file"><td></td><td><a href="./1%20%C3%89t%C3%A9%20%231%3F.mp3"><span class="name">1 Été #1?.mp3</span></a></td><td data-order="0">0 B</td><td class="hideable"><time datetime=" 2026-11-23T02:38:05Z">11/23/2026 02:38:05 AM +00:00</time></td><td class="hideable"></td></tr>
               <tr class="file"><td></td><td><a href="./2%20Two%20&amp;%20a%20half.mp3"><span class="name">2 Two &amp; a half.mp3</span></a></td><td data-order="0">0 B</td><td class="hideable"><time datetime=" 2026-11-23T02:38:05Z">11/23/2026 02:38:05 AM +00:00</time></td><td class="hideable"></td></tr>
               <tr class="file"><td></td><td><a href="./50%25.mp3"><span class="name">50%.mp3</span></a></td><td data-order="0">0 B</td><td class="hideable"><time datetime=" 2026-11-23T02:38:05Z">11/23/2026 02:38:05 AM +00:00</time></td><td class="hideable"></td></tr>
               <tr class="file"><td></td><td><a href="./%3Ci%3E.mp3"><span class="name">&lt;i&gt;.mp3</span></a></td><td data-order="0">0 B</td><td class="hideable"><time datetime=" 2026-11-23T02:38:05Z">11/23/2026 02:38:05 AM +00:00</time></td><td class="hideable"></td></tr>
               <tr class="file"><td></td><td><a href="./a+b;c=d&amp;amp;.mp3"><span class="name">a+b;c=d&amp;amp;.mp3</span></a></td><td data-order="0">0 B</td><td class="hideable"><time datetime=" 2026-11-23T02:38:05Z">11/23/2026 02:38:05 AM +00:00</time></td><td class="hideable"></td></tr>
               <tr class="file"><td></td><td><a href="./A:%20B.mp3"><span class="name">A: B.mp3</span></a></td><td data-order="0">0 B</td><td class="hideable"><time datetime=" 2026-11-23T02:38:05Z">11/23/2026 02:38:05 AM +00:00</time></td><td class="hideable"></td></tr>
               <tr class="file"><td></td><td><a href="./cover.jpg"><span class="name">cover.jpg</span></a></td><td data-order="0">0 B</td><td class="hideable"><time datetime=" 2026-11-23T02:38:05Z">11/23/2026 02:38:05 AM +00:00</time></td><td class="hideable"></td></tr>
               <tr class="file"><td></td><td><a href="./list.m3u"><span class="name">list.m3u</span></a></td><td data-order="0">0 B</td><td class="hideable"><time datetime=" 2026-11-23T02:38:05Z">11/23/2026 02:38:05 AM +00:00</time></td><td class="hideable"></td></tr>
               <tr class="file"><td></td><td><a href="./quote%20%22q%22%20it%27s.mp3"><span class="name">quote &#34;q&#34; it&#39;s.mp3</span></a></td><td data-order="0">0 B</td><td class="hideable"><time datetime=" 2026-11-23T02:38:05Z">11/23/2026 02:38:05 AM +00:00</time></td><td class="hideable"></td></tr>
               </tbody>
               </table>
               </div>
                </main>
                <footer>
               Served with <a rel="noopener noreferrer" href="https://caddyserver.com">Caddy</a>
                </footer>
            </body>
            </html>

            """#
        ),
        (
            "Python",
            #"""
            <!DOCTYPE HTML>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <title>Directory listing for /music/</title>
            </head>
            <body>
            <h1>Directory listing for /music/</h1>
            <hr>
            <ul>
            <li><a href=".hidden.mp3">.hidden.mp3</a></li>
            <li><a href="1%20%C3%89t%C3%A9%20%231%3F.mp3">1 Été #1?.mp3</a></li>
            <li><a href="2%20Two%20%26%20a%20half.mp3">2 Two &amp; a half.mp3</a></li>
            <li><a href="50%25.mp3">50%.mp3</a></li>
            <li><a href="%3Ci%3E.mp3">&lt;i&gt;.mp3</a></li>
            <li><a href="a%2Bb%3Bc%3Dd%26amp%3B.mp3">a+b;c=d&amp;amp;.mp3</a></li>
            <li><a href="A%3A%20B.mp3">A: B.mp3</a></li>
            <li><a href="cover.jpg">cover.jpg</a></li>
            <li><a href="list.m3u">list.m3u</a></li>
            <li><a href="quote%20%22q%22%20it%27s.mp3">quote "q" it's.mp3</a></li>
            <li><a href="Sub%20%26%20dir/">Sub &amp; dir/</a></li>
            </ul>
            <hr>
            </body>
            </html>

            """#
        ),
        (
            "rclone",
            #"""

            <!DOCTYPE html>
            <html>
             <head>
              <title>/music</title>
              <meta charset="utf-8">
              <meta name="viewport" content="width=device-width, initial-scale=1.0">
              <meta name="google" content="notranslate">
             </head>
             <body onload='filter();toggle("order");changeSize()'>
              <header><h1><a href="../">/</a><a href="">music</a>/</h1></header>
              <main><div class="meta"><div id="summary"><span class="meta-item"><input type="text" placeholder="filter" id="filter" onkeyup='filter()'></span></div></div><div class="listing"><table aria-describedby="summary">
                 <thead><tr><th></th><th><a href="?sort=namedirfirst&order=asc" class="icon sort order"></a><a href="?sort=name&order=asc" class="order">Name</a></th><th><a href="?sort=size&order=asc" class="order">Size</a></th><th class="hideable"><a href="?sort=time&order=asc" class="order">Modified</a></th><th class="hideable"></th></tr>
                 </thead>
                 <tbody>
                 <tr><td></td><td><a href=".."><span class="goup">Go up</span></a></td><td>&mdash;</td><td class="hideable">&mdash;</td><td class="hideable"></td></tr>
                 <tr class="file"><td></td><td><span class="name"><a href="Sub%20&amp;%20dir/">Sub &amp; dir/</a></span></td><td data-order="-1">&mdash;</td><td class="hideable"><time datetime="2026-11-23 02:38:05.437332213 &#43;0000 UTC">2026-11-23 02:38:05.437332213 &#43;0000 UTC</time></td><td class="hideable"></td></tr>
                 <tr class="file"><td></td><td><span class="name"><a href=".hidden.mp3">.hidden.mp3</a></span></td><td data-order="0"><size>0</size></td><td class="hideable"><time datetime="2026-11-23 02:38:05.437332213 &#43;0000 UTC">2026-11-23 02:38:05.437332213 &#43;0000 UTC</time></td><td class="hideable"></td></tr>
                 <tr class="file"><td></td><td><span class="name"><a href="1%20%C3%89t%C3%A9%20%231%3F.mp3">1 Été #1?.mp3</a></span></td><td data-order="0"><size>0</size></td><td class="hideable"><time datetime="2026-11-23 02:38:05.437332213 &#43;0000 UTC">2026-11-23 02:38:05.437332213 &#43;0000 UTC</time></td><td class="hideable"></td></tr>
                 <tr class="file"><td></td><td><span class="name"><a href="2%20Two%20&amp;%20a%20half.mp3">2 Two &amp; a half.mp3</a></span></td><td data-order="0"><size>0</size></td><td class="hideable"><time datetime="2026-11-23 02:38:05.437332213 &#43;0000 UTC">2026-11-23 02:38:05.437332213 &#43;0000 UTC</time></td><td class="hideable"></td></tr>
                 <tr class="file"><td></td><td><span class="name"><a href="50%25.mp3">50%.mp3</a></span></td><td data-order="0"><size>0</size></td><td class="hideable"><time datetime="2026-11-23 02:38:05.437332213 &#43;0000 UTC">2026-11-23 02:38:05.437332213 &#43;0000 UTC</time></td><td class="hideable"></td></tr>
                 <tr class="file"><td></td><td><span class="name"><a href="%3Ci%3E.mp3">&lt;i&gt;.mp3</a></span></td><td data-order="0"><size>0</size></td><td class="hideable"><time datetime="2026-11-23 02:38:05.437332213 &#43;0000 UTC">2026-11-23 02:38:05.437332213 &#43;0000 UTC</time></td><td class="hideable"></td></tr>
                 <tr class="file"><td></td><td><span class="name"><a href="a+b;c=d&amp;amp;.mp3">a+b;c=d&amp;amp;.mp3</a></span></td><td data-order="0"><size>0</size></td><td class="hideable"><time datetime="2026-11-23 02:38:05.437332213 &#43;0000 UTC">2026-11-23 02:38:05.437332213 &#43;0000 UTC</time></td><td class="hideable"></td></tr>
                 <tr class="file"><td></td><td><span class="name"><a href="./A:%20B.mp3">A: B.mp3</a></span></td><td data-order="0"><size>0</size></td><td class="hideable"><time datetime="2026-11-23 02:38:05.437332213 &#43;0000 UTC">2026-11-23 02:38:05.437332213 &#43;0000 UTC</time></td><td class="hideable"></td></tr>
                 <tr class="file"><td></td><td><span class="name"><a href="cover.jpg">cover.jpg</a></span></td><td data-order="0"><size>0</size></td><td class="hideable"><time datetime="2026-11-23 02:38:05.437332213 &#43;0000 UTC">2026-11-23 02:38:05.437332213 &#43;0000 UTC</time></td><td class="hideable"></td></tr>
                 <tr class="file"><td></td><td><span class="name"><a href="list.m3u">list.m3u</a></span></td><td data-order="0"><size>0</size></td><td class="hideable"><time datetime="2026-11-23 02:38:05.437332213 &#43;0000 UTC">2026-11-23 02:38:05.437332213 &#43;0000 UTC</time></td><td class="hideable"></td></tr>
                 <tr class="file"><td></td><td><span class="name"><a href="quote%20%22q%22%20it%27s.mp3">quote &#34;q&#34; it&#39;s.mp3</a></span></td><td data-order="0"><size>0</size></td><td class="hideable"><time datetime="2026-11-23 02:38:05.437332213 &#43;0000 UTC">2026-11-23 02:38:05.437332213 &#43;0000 UTC</time></td><td class="hideable"></td></tr>
                 </tbody>
                </table>
               </div>
              </main>
             </body>
            </html>

            """#
        ),
    ]
}
