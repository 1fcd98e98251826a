# Makes a C file of a style or a script: its bytes as a string, and the hash by which a Content-Security-Policy names it.
#
#   cmake -DIN=page.css -DNAME=vpa_page_css -DOUT=page_css.c -P embed.cmake
file(READ ${IN} hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n\t" bytes "${bytes}")

# Base 64 of the hash: three bytes are four letters; 32 bytes leave two over.
file(SHA256 ${IN} hash)
string(APPEND hash "00")
set(letters ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
set(base64 "")
foreach(i RANGE 0 60 6)
  string(SUBSTRING ${hash} ${i} 6 part)
  math(EXPR number "0x${part}")
  foreach(shift 18 12 6 0)
    math(EXPR letter "(${number} >> ${shift}) & 63")
    string(SUBSTRING ${letters} ${letter} 1 letter)
    string(APPEND base64 ${letter})
  endforeach()
endforeach()
string(REGEX REPLACE "A$" "=" base64 ${base64})

file(WRITE ${OUT} "/* Made from ${NAME} by embed.cmake. */
extern const char ${NAME}[], ${NAME}_hash[];
const char ${NAME}[] = {
	${bytes} 0};
const char ${NAME}_hash[] = \"${base64}\";
")
